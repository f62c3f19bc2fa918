/* experiments/demo.yaml, compiled in so that `sotto demo` works without any file beside the program. */
    .section .rodata
    .global run_demo_yaml
    .hidden run_demo_yaml
run_demo_yaml:
    .incbin SOTTO_DEMO_YAML
    .byte 0
    .section .note.GNU-stack, "", %progbits
