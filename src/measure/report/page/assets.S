/* The parts of the page, carried inside the library so that a report needs no file besides the program. */
    .section .rodata
    .macro asset name, path
    .hidden report_\name
    .global report_\name
report_\name:
    .incbin "\path"
    .byte 0
    .endm

    asset template_html, "report/page/template.html"
    asset report_css, "report/page/report.css"
    asset report_js, "report/page/report.js"
    asset certificate_css, "report/certificate/certificate.css"
    asset chart_js, SOTTO_CHART_JS
    .section .note.GNU-stack, "", %progbits
