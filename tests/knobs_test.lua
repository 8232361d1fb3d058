-- The command line: knobs, devices, tables, and what the program says about wrong ones.

local device = require "device"
local fail = require "fail"
local knobs = require "knobs"
local narrow_kit = require "narrow_kit"
local sh = require "tests_sh"
local tab = require "tab"

local function parse(verb, ...)
  return knobs.parse(verb, { "DEVICE=h200", ... })
end

local function refused(message, verb, ...)
  local ok, err = pcall(knobs.parse, verb, { ... })
  assert(not ok, "is accepted")
  assert(fail.text(err) == message, tostring(err))
  assert(err.code == 2, "exit code " .. tostring(err.code))
end

local function shapes_file(text)
  local path = host.root .. "/out/build/test/core-knobs/shapes.txt"
  assert(host.write(path, text) ~= nil)
  return path
end

local DIM = "wants MxNxK, each a number from 1 to 1073741824"

-- Runs loom with these words; its exit code and output.
local function loom(...)
  local got = sh.run { sh.loom, ... }
  return got.code, got.output
end

local function has(text, piece)
  assert(text:find(piece, 1, true), "lacks '" .. piece .. "':\n" .. text)
end

local function test_file(name, text)
  local path = host.root .. "/out/build/test/core-knobs/" .. name
  assert(host.write(path, text) ~= nil)
  return path
end

return {
  { name = "SHAPE makes one problem for each layout", run = function()
    local opt = parse("count", "SHAPE=64x128x256")
    assert(#opt.problems == 2)
    local p = opt.problems[2]
    assert(p.M == 64 and p.N == 128 and p.K == 256 and p.layout == "tn" and p.dtype == "f16" and p.acc == "f32")
    assert(math.type(p.M) == "integer" and opt.device.name == "h200" and opt.space == nil)
    assert(opt.given.SHAPE and not opt.given.LAYOUT)
  end },
  { name = "lists, times and numbers are read", run = function()
    local opt = parse("bench", "SHAPE=1x1x1", "LAYOUT=tt,nt", "SPACE=mma,simt", "BUDGET=30m", "N=5", "JOBS=2", "ACC=f16")
    assert(opt.problems[1].layout == "tt" and opt.problems[2].layout == "nt" and opt.problems[1].acc == "f16")
    assert(table.concat(opt.space, " ") == "mma simt" and opt.budget == 1800 and opt.n == 5 and opt.jobs == 2)
  end },
  { name = "an empty value counts as not given", run = function()
    local opt = parse("gen", "SHAPE=8x8x8", "SPACE=", "N=", "KEY=")
    assert(opt.space == nil and opt.n == nil and opt.key == nil and not opt.given.N)
  end },
  { name = "SHAPES reads a file with comments", run = function()
    local opt = parse("count", "SHAPES=" .. shapes_file("# sizes\n64x64x64\n\n  128x1x1073741824 # long\n"), "LAYOUT=nn")
    assert(#opt.problems == 2 and opt.problems[2].K == 1073741824)
  end },
  { name = "errors in a file of shapes stand at their line", run = function()
    local path = shapes_file("64x64x64\n# fine\n64x64\n")
    refused(path .. ":3: '64x64': " .. DIM, "count", "SHAPES=" .. path)
    path = shapes_file("# only a comment\n")
    refused(path .. ":1: no shapes in the file", "count", "SHAPES=" .. path)
  end },
  { name = "shapes that are none are refused", run = function()
    for _, text in ipairs { "64", "64x64", "64x64x64x64", "0x64x64", "-1x2x3", "64x64x2147483648", "64X64X64",
      "64x64x", "x64x64", "1e3x2x3", "6.5x2x3", "0x10x0x10x0x10", "99999999999999999999x1x1", "64 x64x64" } do
      refused("SHAPE '" .. text .. "': " .. DIM, "count", "SHAPE=" .. text)
    end
  end },
  { name = "unknown knobs and values are named with the nearest known one", run = function()
    refused("unknown knob 'SHPE' (did you mean 'SHAPE'?)", "gen", "SHPE=1x1x1")
    refused("OUT 'a?b' has a control character", "gen", "SHAPE=8x8x8", "OUT=a\tb")
    refused("verb 'count' does not read the knob 'JOBS'", "count", "JOBS=3")
    refused("knob 'N' stands twice", "gen", "N=3", "N=4")
    refused("'fast' is not of the form NAME=value", "gen", "fast")
    refused("LAYOUT 'nm' is none of nn, tn, nt, tt (did you mean 'nn'?)", "gen", "LAYOUT=nm")
    refused("LAYOUT 'nn,nn' has 'nn' twice", "gen", "LAYOUT=nn,nn")
    refused("LAYOUT 'nn,' has an empty item", "gen", "LAYOUT=nn,")
    refused("N '0' is not a number from 1 to 1000000", "gen", "N=0")
    refused("BUDGET '5 s' is not a time like 60s, 30m or 2h", "bench", "BUDGET=5 s")
    refused("SHAPE and SHAPES exclude each other", "gen", "SHAPE=1x1x1", "SHAPES=" .. shapes_file("1x1x1\n"))
    refused("verb 'count' wants SHAPE=MxNxK or SHAPES=file", "count", "DEVICE=h200")
  end },
  { name = "bf16 with f16 accumulation does not exist", run = function()
    refused("bf16 with f16 accumulation does not exist on tensor cores", "gen", "SHAPE=8x8x8", "DTYPE=bf16", "ACC=f16")
    assert(parse("gen", "SHAPE=8x8x8", "DTYPE=bf16").problems[1].dtype == "bf16")
  end },
  { name = "a key brings its layout and types, and contradictions are refused", run = function()
    local key = "simt:layout=tt,dtype=bf16,acc=f32,tile=1"
    local opt = parse("explain", "SHAPE=8x8x8", "KEY=" .. key)
    assert(#opt.problems == 1 and opt.problems[1].layout == "tt" and opt.problems[1].dtype == "bf16")
    refused("LAYOUT=nn, and the key has layout=tt", "explain", "SHAPE=8x8x8", "KEY=" .. key, "LAYOUT=nn")
    assert(#parse("gen", "KEY=" .. key).problems == 0)
  end },
  { name = "every device has every field, as integers and strings", run = function()
    for _, name in ipairs(device.names()) do
      local dev = device.get(name)
      for _, field in ipairs(device.fields()) do
        assert((math.type(dev[field]) or type(dev[field])) == device.type(field), name .. "." .. field)
      end
      assert(dev.smem_per_block == dev.smem_per_sm - 1024 and dev.arch:match("%d+") == tostring(dev.cc))
      assert(dev.source ~= "")
    end
    assert(device.get("h200").smem_per_block == 232448 and device.get("a100").smem_per_block == 166912)
    local ok, err = pcall(device.get, "h20")
    assert(not ok and tostring(err) == "unknown device 'h20' (did you mean 'h200'?); known: "
      .. table.concat(device.names(), ", "), tostring(err))
  end },
  { name = "a product name finds its preset and no cousin's", run = function()
    local function is(title, name)
      local preset = device.match(title)
      assert((preset and preset.name) == name, title)
    end
    is("NVIDIA H200", "h200")
    is("NVIDIA H100 80GB HBM3", "h100")
    is("NVIDIA A100-SXM4-80GB", "a100")
    is("NVIDIA GeForce RTX 4090", "rtx4090")
    is("NVIDIA L40S", "l40s")
    is("NVIDIA GeForce RTX 4090 D", nil)
    is("NVIDIA GeForce RTX 3090 Ti", nil)
    is("NVIDIA H100 PCIe", nil)
    is("NVIDIA L40", nil)
    is("NVIDIA H20", nil)
  end },
  { name = "tables align numbers to the right and words to the left", run = function()
    local text = tab.format({ { name = "a", n = 5, us = "1.25" }, { name = "longer", n = 1234, us = "-" } },
      { "name", "n", "us", { title = "none", key = "x" } })
    assert(text == "name       n    us  none\na          5  1.25\nlonger  1234     -\n", text)
    assert(tab.format({}, { "a", "b" }) == "a  b\n")
    assert(tab.format({ { "x", "> 9.2e18" } }, { "k", "v" }) == "k         v\nx  > 9.2e18\n")
  end },
  { name = "nearest names: swaps count once, strangers are not offered", run = function()
    local list = { "tile_m", "tile_n", "stages" }
    assert(fail.near("tiel_m", list) == " (did you mean 'tile_m'?)")
    assert(fail.near("STAGES", list) == " (did you mean 'stages'?)")
    assert(fail.near("warps", list) == "")
    assert(fail.near(("x"):rep(1000), list) == "")
  end },
  { name = "help lists the verbs and the knobs of each", run = function()
    local code, out = loom("help")
    assert(code == 0)
    has(out, "\n  count ")
    code, out = loom("help", "count")
    assert(code == 0)
    has(out, "\n  SHAPES ")
    code, out = loom()
    assert(code == 2)
    has(out, "usage: loom VERB")
    code, out = loom("cuont")
    assert(code == 2 and out == "loom: unknown verb 'cuont' (did you mean 'count'?); 'loom help' lists them\n", out)
    code, out = loom("count", "SHPE=1x1x1")
    assert(code == 2 and out == "loom: unknown knob 'SHPE' (did you mean 'SHAPE'?)\n", out)
  end },
  { name = "count shows what each rule removed", run = function()
    local code, out = loom("count", "SPACE=hopper", "SHAPE=4096x4096x4096", "LAYOUT=tn", "DEVICE=h200")
    assert(code == 0, out)
    has(out, "space hopper, 4096x4096x4096 tn f16 acc f32, h200\nproduct  ")
    has(out, "smem-fits")
  end },
  { name = "count of an empty space exits 1 and names the rule that emptied it", run = function()
    local code, out = loom("count", "SPACE=mma", "SHAPE=4095x4096x4096", "LAYOUT=nn", "DEVICE=h200")
    assert(code == 1)
    has(out, "loom: space 'mma' has no valid point for 4095x4096x4096 nn f16 acc f32 on h200: without rule "
      .. "'eights' (16-byte copies need")
    code = loom("count", "SHAPE=4095x4096x4096", "LAYOUT=nn", "DEVICE=h200")
    assert(code == 0, "another space serves the problem")
  end },
  { name = "keys of a space at a path are explained, walked around and rendered with SPACE", run = function()
    local path = narrow_kit.write(sh.tmpdir "knobs narrow")
    local code, key = loom("sample", "SPACE=" .. path, "SHAPE=4096x4096x4096", "LAYOUT=tn", "DEVICE=h200", "N=1")
    assert(code == 0, key)
    key = "KEY=" .. key:gsub("\n", "")
    for _, verb in ipairs { "explain", "neighbours" } do
      local out
      code, out = loom(verb, key, "SPACE=" .. path, "SHAPE=4096x4096x4096", "DEVICE=h200")
      assert(code == 0, out)
    end
    local out
    code, out = loom("explain", key, "SPACE=mma", "SHAPE=4096x4096x4096", "DEVICE=h200")
    assert(code == 1)
    has(out, "is not of SPACE=mma")
  end },
  { name = "a space that lacks what its template's model reads is refused at its place", run = function()
    local path = host.root .. "/out/build/test/knobs/lacks.lua"
    assert(host.write(path, 'space "lacks" { format = 1, base = "common", template = "simt.cu" }\n'
      .. 'param "tile_m" { 32 }\nparam "tile_n" { 32 }\n') ~= nil)
    local code, out = loom("gen", "SPACE=" .. path, "SHAPE=512x512x512", "DEVICE=h200")
    assert(code == 1 and out == "out/build/test/knobs/lacks.lua:1: space 'lacks': template 'simt.cu' wants 'thread_m', "
      .. "which the space does not declare\n", out)
  end },
  { name = "a broken space file is one line at its own place", run = function()
    local code, out = loom("space", "SPACE=" .. host.root .. "/tests/fail/unknown_name.lua")
    assert(code == 1 and out == "tests/fail/unknown_name.lua:5: must 'fits': unknown name 'tile_q' "
      .. "(did you mean 'tile_n'?)\n", out)
  end },
  { name = "the test runner fails when a test fails, and when nothing ran", run = function()
    local good = test_file("good.lua", 'return { { name = "fine", run = function() end },\n'
      .. '  { name = "later", run = function() skip("no GPU") end } }\n')
    local code, out = loom("test", good)
    assert(code == 0 and out == "ok fine\nskip later: no GPU\n1 passed, 0 failed, 1 skipped\n", out)
    local bad = test_file("bad.lua", 'return { { name = "broken", run = function() assert(1 == 2, "no") end } }\n')
    code, out = loom("test", bad, good)
    assert(code == 1)
    has(out, "FAIL broken: ")
    has(out, "bad.lua:1: ")
    has(out, "\n1 passed, 1 failed, 1 skipped\n")
    code, out = loom("test", test_file("none.lua", "return {}\n"))
    assert(code == 1)
    has(out, "none.lua:1: returns no list of tests")
    assert(loom("test", test_file("syntax.lua", "return {\n")) == 1)
    assert(loom("test") == 2)
  end },
}
