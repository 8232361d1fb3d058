-- expect: tests/fail/template_path.lua:2: space 'template_path': template '../x.cu' is not a plain file name
space "template_path" { format = 1, template = "../x.cu" }
