// Every kind of atomic instruction, each alone in a function that main calls once.
//
// The test patches the file of this program: stubs go to `stubs`, traps to `traps`. What the
// stubs hand to `entry` is recorded. For each call main prints the function, the address of its
// operand and the results, so that records and results can be compared.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>

struct record { uint64_t number, address; } records[256];
uint64_t recorded;
volatile struct trap { uint64_t address, stub; } traps[64] = {{1, 1}};

__asm__(
    ".section .stubs,\"ax\",@progbits\n"
    ".globl stubs\n stubs: .skip 16384, 0xcc\n"
    ".text\n"
    ".globl entry\n.type entry,@function\n"
    "entry:\n"
    " push %rcx\n push %rdx\n"
    " mov recorded(%rip), %rcx\n shl $4, %rcx\n"
    " lea records(%rip), %rdx\n add %rcx, %rdx\n"
    " mov 24(%rsp), %rax\n mov %rax, (%rdx)\n"
    " mov 32(%rsp), %rax\n mov %rax, 8(%rdx)\n"
    " incq recorded(%rip)\n"
    " pop %rdx\n pop %rcx\n"
    " mov $0x5555, %eax\n cmp $0x1234, %eax\n ret\n" // destroys rax and the flags
    ".size entry, .-entry\n");

#define FUNCTION(name, body) \
    __asm__(".globl " #name "\n.type " #name ",@function\n" #name ":\n" body "\n ret\n" \
            ".size " #name ", .-" #name "\n"); \
    uint64_t name(void *operand, uint64_t a, uint64_t b, uint64_t c);

// Arguments: rdi is the operand, rsi, rdx and rcx are numbers.
FUNCTION(cas8, "mov %esi,%eax\n lock cmpxchg %dl,(%rdi)\n setz %al\n movzx %al,%eax")
FUNCTION(cas16, "mov %esi,%eax\n lock cmpxchg %dx,(%rdi)\n setz %al\n movzx %al,%eax")
FUNCTION(cas32, "mov %esi,%eax\n lock cmpxchg %edx,(%rdi)\n setz %al\n movzx %al,%eax")
FUNCTION(cas64, "mov %rsi,%rax\n lock cmpxchg %rdx,8(%rdi)\n setz %al\n movzx %al,%eax")
FUNCTION(cas8b, "push %rbx\n mov %esi,%eax\n mov %ecx,%ebx\n xor %ecx,%ecx\n xor %edx,%edx\n"
                "lock cmpxchg8b (%rdi)\n setz %al\n movzx %al,%eax\n pop %rbx")
FUNCTION(cas16b, "push %rbx\n mov %rsi,%rax\n mov %rcx,%rbx\n xor %ecx,%ecx\n xor %edx,%edx\n"
                 "lock cmpxchg16b (%rdi)\n setz %al\n movzx %al,%eax\n pop %rbx")
// A static variable that is changed atomically: then plain instructions are sites, too.
FUNCTION(static_cas, "mov %rsi,%rax\n lock cmpxchg %rdx,shared(%rip)")
FUNCTION(static_load, "mov shared(%rip),%rax")
FUNCTION(static_compare, "xor %eax,%eax\n cmpl $6,shared(%rip)\n seta %al")
FUNCTION(static_store, "mov %rsi,shared(%rip)\n mov %rsi,%rax")
FUNCTION(static_count, "lock incq shared(%rip)\n mov %rsi,%rax")
FUNCTION(static_address, "lea shared(%rip),%rax\n mov (%rax),%rax")
FUNCTION(exchange, "mov %rsi,%rax\n xchg %rax,(%rdi)\n lea operand(%rip),%rcx\n add (%rcx),%rax")
FUNCTION(exchange_rax, "mov %rdi,%rax\n xchg %rsi,-16(%rax,%rcx,8)\n mov %rsi,%rax")
FUNCTION(exchange32, "mov %esi,%eax\n xchg %eax,(%edi)")
// On the stack, with and without a displacement, and in the red zone.
FUNCTION(on_stack, "push %rsi\n xchg %rdx,(%rsp)\n lea (%rsp),%rcx\n mov %rcx,(%rdi)\n pop %rax\n"
                   "shl $32,%rax\n add %rdx,%rax")
FUNCTION(red_zone, "mov %rsi,-8(%rsp)\n lock xadd %rdx,-8(%rsp)\n lea -8(%rsp),%rcx\n"
                   "mov %rcx,(%rdi)\n mov -8(%rsp),%rax\n shl $32,%rax\n add %rdx,%rax")
FUNCTION(far_stack, "sub $0x200,%rsp\n mov %rsi,0x100(%rsp,%rcx,4)\n"
                    "xchg %rdx,0x100(%rsp,%rcx,4)\n lea 0x100(%rsp,%rcx,4),%rax\n mov %rax,(%rdi)\n"
                    "mov %rdx,%rax\n add $0x200,%rsp")
// The flags survive: those before the site, read after it, and those that it makes.
FUNCTION(keeps_flags, "cmp %rdx,%rsi\n xchg %rcx,(%rdi)\n setb %al\n movzx %al,%eax")
FUNCTION(decrement, "lock decq (%rdi)\n je 1f\n mov $7,%eax\n ret\n 1: mov $8,%eax")
FUNCTION(bit, "xor %eax,%eax\n lock btsq $5,(%rdi)\n setc %al")
FUNCTION(add_used, "lock add %rsi,(%rdi)\n mov $0,%eax\n setz %al")
FUNCTION(fetch_add, "lock xadd %rsi,(%rdi)\n mov %rsi,%rax")
FUNCTION(count, "lock incq (%rdi)\n mov %rsi,%rax")
FUNCTION(count_add, "lock xadd %rsi,(%rdi)\n xor %esi,%esi\n mov %rdx,%rax")
// A jump back to the site must pass the shim again: two records.
FUNCTION(retry, "xor %eax,%eax\n 1: lock cmpxchg %rsi,(%rdi)\n jne 1b\n mov %rsi,%rax")
// Two sites whose patches would overlap.
FUNCTION(neighbours, "mov %esi,%eax\n xchg %eax,(%rdi)\n xchg %edx,(%rdi)\n shl $32,%rdx\n or %rdx,%rax")
FUNCTION(pauses, "pause\n pause\n pause\n mov %rsi,%rax")
FUNCTION(pause_and_jump, "pause\n jmp 1f\n .skip 200,0xcc\n 1: mov %rsi,%rax")
// What is before a fence stays before it; both ways that compilers write one.
FUNCTION(fence, "mfence\n mov %rsi,%rax")
FUNCTION(fence_by_lock, "cmp %rsi,%rsi\n lock orl $0,-0x40(%rsp)\n mov %rsi,%rax")
// Something arrives behind the site: by a jump, by tables, by an address in a register.
FUNCTION(entered_by_jump, "xor %eax,%eax\n xchg %esi,(%rdi)\n 1: inc %eax\n cmp $4,%eax\n jb 1b")
FUNCTION(entered_by_table, "lea 3f(%rip),%rax\n movslq 4(%rax),%r8\n add %r8,%rax\n test %rdx,%rdx\n"
    "je 1f\n jmp *%rax\n 1: xchg %esi,(%rdi)\n 2: mov %rsi,%rax\n ret\n"
    ".section .rodata\n .balign 4\n 3: .long 1b-3b, 2b-3b\n .long 0\n .text")
FUNCTION(entered_by_pointer, "test %rdx,%rdx\n je 1f\n jmp *3f(%rip)\n"
    "1: xchg %esi,(%rdi)\n 2: mov %rsi,%rax\n ret\n .data\n .balign 8\n 3: .quad 2b\n .text")
FUNCTION(entered_by_address, "lea 2f(%rip),%rax\n test %rdx,%rdx\n je 1f\n jmp *%rax\n"
                             "1: xchg %esi,(%rdi)\n 2: mov %rsi,%rax")
FUNCTION(entered_by_constant, "mov $2f,%eax\n test %rdx,%rdx\n je 1f\n jmp *%rax\n"
                              "1: xchg %esi,(%rdi)\n 2: mov %rsi,%rax")
// The lock prefix is jumped over, as glibc does while there is one thread.
FUNCTION(prefix_skipped, "mov %rsi,%rax\n test %rcx,%rcx\n je 1f\n lock\n 1: cmpxchg %rdx,(%rdi)")
FUNCTION(call_behind, "sub $8,%rsp\n xchg %esi,(%rdi)\n call helper\n add $8,%rsp")
// Data between instructions, which reads as something invalid and a lock cmpxchg.
FUNCTION(data_inside, "jmp 2f\n 1: .byte 0x06,0xf0,0x0f,0xb1,0x07,0xc3,0xc3,0xc3\n"
                      "2: xchg %rsi,(%rdi)\n mov 1b(%rip),%rax")
// No sites: thread-local, not locked, registers only.
FUNCTION(no_site, "lock incq %fs:counter@tpoff\n cmpxchg %rsi,(%rdi)\n xchg %rsi,%rdx\n mov %rdx,%rax")

uint64_t helper(void) { return 77; }
__thread uint64_t counter;
_Alignas(16) uint64_t operand[8];
uint64_t shared = 6;

static void on_trap(int signal, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    for (int i = 0; traps[i].address != 0; i++) {
        if (traps[i].address + 1 == (uint64_t)registers[REG_RIP]) {
            registers[REG_RIP] = traps[i].stub;
            return;
        }
    }
    _Exit(99);
}

static void show(const char *name, uint64_t result, void *address) {
    printf("%s %lx: %lx, %lx %lx\n", name, (uint64_t)address, result, operand[0], operand[1]);
}

#define CALL(name, at, a, b, c) show(#name, name(operand, a, b, c), at)

int main(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, 0);
    operand[0] = 0x102030405060708;
    CALL(cas8, operand, 8, 9, 0);
    CALL(cas16, operand, 0x709, 0x10, 0);
    CALL(cas32, operand, 1, 2, 0);
    CALL(cas64, &operand[1], 0, 0x1122334455667788, 0);
    CALL(cas8b, operand, 0, 0, 7);
    operand[0] = 5, operand[1] = 0;
    CALL(cas16b, operand, 5, 0, 6);
    CALL(static_cas, &shared, 6, 7, 0);
    CALL(static_load, &shared, 0, 0, 0);
    CALL(static_compare, &shared, 0, 0, 0);
    CALL(static_store, &shared, 8, 0, 0);
    CALL(static_count, &shared, 9, 0, 0);
    CALL(static_address, 0, 0, 0, 0);
    CALL(exchange, operand, 1, 0, 0);
    CALL(exchange_rax, &operand[1], 2, 0, 3);
    CALL(exchange32, operand, 3, 0, 0);
    uint64_t result = on_stack(&operand[2], 10, 11, 0);
    show("on_stack", result, (void *)operand[2]);
    result = red_zone(&operand[2], 20, 21, 0);
    show("red_zone", result, (void *)operand[2]);
    result = far_stack(&operand[2], 30, 31, 4);
    show("far_stack", result, (void *)operand[2]);
    CALL(keeps_flags, operand, 1, 2, 2);
    CALL(keeps_flags, operand, 2, 1, 2);
    CALL(decrement, operand, 0, 0, 0);
    CALL(decrement, operand, 0, 0, 0);
    CALL(bit, operand, 0, 0, 0);
    CALL(bit, operand, 0, 0, 0);
    CALL(add_used, operand, -32, 0, 0);
    CALL(fetch_add, operand, 4, 0, 0);
    CALL(count, operand, 6, 0, 0);
    CALL(count_add, operand, 6, 7, 0);
    CALL(retry, operand, 3, 0, 0);
    CALL(neighbours, operand, 1, 2, 0);
    CALL(pauses, 0, 3, 0, 0);
    CALL(pause_and_jump, 0, 4, 0, 0);
    CALL(fence, 0, 5, 0, 0);
    CALL(entered_by_jump, operand, 5, 0, 0);
    CALL(entered_by_table, operand, 6, 0, 0);
    CALL(entered_by_table, 0, 6, 1, 0);
    CALL(entered_by_pointer, operand, 7, 0, 0);
    CALL(entered_by_pointer, 0, 7, 1, 0);
    CALL(entered_by_address, operand, 8, 0, 0);
    CALL(entered_by_address, 0, 8, 1, 0);
    CALL(entered_by_constant, operand, 9, 0, 0);
    CALL(entered_by_constant, 0, 9, 1, 0);
    CALL(prefix_skipped, operand, 9, 10, 0);
    CALL(prefix_skipped, operand, 10, 11, 1);
    CALL(call_behind, operand, 12, 0, 0);
    CALL(data_inside, operand, 13, 0, 0);
    CALL(no_site, operand, 13, 14, 0);
    for (uint64_t i = 0; i < recorded; i++)
        fprintf(stderr, "%lu %lx\n", records[i].number, records[i].address);
    return 0;
}
