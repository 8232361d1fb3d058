-- file-name | loads | 2: space 'template_path': template '../../etc/passwd' is not a plain file name
space "template_path" { format = 1, template = "../../etc/passwd" }

