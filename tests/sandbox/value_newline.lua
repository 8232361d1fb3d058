-- value | loads | 3: param 'x': value '1;\10#include "evil.h"' has other characters than letters, digits, '_', '.', '+', '-'
space "value_newline" { format = 1, template = "simt.cu" }
param "x" { "1;\n#include \"evil.h\"" }
