/* Functions of an assembler, whose debug information (gcc -g) says that they exist, and nothing of what they give back. */
#if defined __x86_64__
	.text
	.globl forty_two
	.type forty_two, @function
forty_two:
	movl $42, %eax
	ret
	.size forty_two, . - forty_two
	.globl main
	.type main, @function
main:
	subq $8, %rsp
	call forty_two
	xorl %eax, %eax
	addq $8, %rsp
	ret
	.size main, . - main
#elif defined __aarch64__
	.text
	.globl forty_two
	.type forty_two, @function
forty_two:
	mov w0, 42
	ret
	.size forty_two, . - forty_two
	.globl main
	.type main, @function
main:
	stp x29, x30, [sp, -16]!
	bl forty_two
	mov w0, 0
	ldp x29, x30, [sp], 16
	ret
	.size main, . - main
#endif
	.section .note.GNU-stack, "", %progbits
