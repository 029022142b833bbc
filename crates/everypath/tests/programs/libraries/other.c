int number(void) { return 42; }
