-- hook | time | 4: more than 10000000 instructions: does it end?
space "loop_goto" { format = 1, template = "simt.cu" }
::again::
goto again
