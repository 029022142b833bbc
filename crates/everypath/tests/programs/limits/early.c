// Never gets as far as main.
__attribute__((constructor)) static void hang(void)
{
    for (;;)
        __asm__ volatile("");
}

int main(void)
{
    return 0;
}
