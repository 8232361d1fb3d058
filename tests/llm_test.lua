-- The program loom-llm against a server of the test's own. No network but 127.0.0.1.

local kit = require "llm_kit"
local sh = require "tests_sh"

local LLM, KEY, EDIT, dir = kit.LLM, kit.KEY, kit.EDIT, kit.dir
local fresh, same, holds, lacks = kit.fresh, kit.same, kit.holds, kit.lacks
local serve, environment = kit.serve, kit.environment
local tests = {}

local function test(name, run) tests[#tests + 1] = { name = name, run = run } end

-- One call of loom-llm: its output, code, transcript.
local function ask(env, opt)
  opt = opt or {}
  local request, transcript = fresh "request", opt.transcript or fresh "llm.jsonl"
  assert(host.write(request, opt.request or "@@ system\nbe brief\n@@ user\nthe spec\n@@ end\nnever seen\n"))
  local argv = { LLM, "--request", request, "--transcript", transcript, "--pause", "0.02" }
  for _, word in ipairs(opt.words or {}) do argv[#argv + 1] = word end
  local r = sh.run(argv, { env = environment(env), timeout = 60 })
  return r.output, r.code, host.read(transcript) or ""
end

-- One call to a server with this script.
local function ask_server(script, opt)
  local s = serve(table.unpack(script))
  local out, code, transcript = ask({ "LOOM_LLM_URL=" .. s.url }, opt)
  s.stop()
  return out, code, transcript, host.read(s.log) or ""
end

-- The answer TEXT (as in the stub's script) must give these lines.
local function answers(text, lines, opt)
  local out, code = ask_server({ "say " .. text }, opt)
  same(out, table.concat(lines, "\n") .. "\n")
  same(code, 0)
end

local LINE = "edit\tdeep\tmore loads in flight\tadd-value\tstages\t6\t8"

-- Strict enough JSON: every line of a transcript parses, to its end.
local function parse_json(text)
  local at = 1
  local function skip_space() at = text:find("[^ \t\r\n]", at) or #text + 1 end
  local value
  local function literal(word) same(text:sub(at, at + #word - 1), word) at = at + #word return word end
  local function str()
    local from = at
    at = at + 1
    while text:sub(at, at) ~= '"' do
      local c = text:byte(at)
      assert(c and c >= 0x20, "a bare control character or an open string")
      if c == 0x5C then
        local e = text:sub(at + 1, at + 1)
        assert(e:find('["\\/bfnrtu]'), "a bad escape")
        if e == "u" then assert(text:find("^%x%x%x%x", at + 2), "a bad \\u") end
        at = at + 1
      end
      at = at + 1
    end
    at = at + 1
    assert(utf8.len(text:sub(from, at - 1)), "no UTF-8")
    return text:sub(from + 1, at - 2)
  end
  local function list(close, item)
    at = at + 1
    skip_space()
    if text:sub(at, at) == close then at = at + 1 return end
    repeat
      item()
      skip_space()
      local c = text:sub(at, at)
      assert(c == "," or c == close, "no comma")
      at = at + 1
      skip_space()
    until c == close
  end
  function value()
    skip_space()
    local c = text:sub(at, at)
    if c == '"' then return str() end
    local out = {}
    if c == "{" then
      list("}", function()
        local key = str()
        skip_space()
        literal ":"
        out[key] = value()
      end)
      return out
    elseif c == "[" then
      list("]", function() out[#out + 1] = value() end)
      return out
    elseif c:find "[tfn]" then
      return literal(({ t = "true", f = "false", n = "null" })[c])
    end
    local _, to = text:find("^%-?%d+%.?%d*[eE]?[-+]?%d*", at)
    assert(to, "no value")
    local number = tonumber(text:sub(at, to))
    at = to + 1
    return assert(number)
  end
  local v = value()
  skip_space()
  same(at, #text + 1)
  return v
end

local function entries(transcript)
  local list = {}
  for line in transcript:gmatch("([^\n]*)\n") do list[#list + 1] = parse_json(line) end
  assert(transcript:sub(-1) == "\n", "the last line is torn")
  return list
end

-- What an answer may look like ---------------------------------------------------------------------

test("loom-llm prints the edits of a bare list, and sends what it was given", function()
  local out, code, transcript, log = ask_server { "say [" .. EDIT .. "]" }
  same(out, LINE .. "\n")
  same(code, 0)
  holds(log, "POST /v1/chat/completions HTTP/1.1")
  holds(log, "Authorization: Bearer " .. KEY .. "\r\n")
  holds(log, '"messages":[{"role":"system","content":"be brief\\n"},{"role":"user","content":"the spec\\n"}]')
  holds(log, '"model":"stub"')
  lacks(log, "never seen")
  local list = entries(transcript)
  same(#list, 2)
  same(list[1].kind .. list[2].kind, "requestresponse")
  same(list[2].status, 200)
end)

test("edits are found in fences, prose, thoughts, objects, parts and as single objects", function()
  answers('```json\\n{"edits": [' .. EDIT .. ']}\\n```', { LINE })
  answers('Sure [1]! {not json} I propose:\\n\\n[' .. EDIT .. ']\\n\\nHope {that} helps ]', { LINE })
  answers('<think>[{"op":"pin","param":"a","values":[1]}]</think>{"edits":[' .. EDIT .. "]}", { LINE })
  answers('{"plan": {"edits": [' .. EDIT .. "]}}", { LINE })
  answers(EDIT .. "\\n" .. EDIT, { LINE, LINE })
  local out = ask_server { "parts [" .. EDIT .. "]" }
  same(out, LINE .. "\n")
end)

test("values may be integers, strings, lists of both, whole reals, or one value alone", function()
  answers('[{"name":"n","hypothesis":"h","op":"set-domain","param":"warps",' ..
          '"values":[["pingpong",2],"cooperative,1",7,128.0,"0x40",-3]}]',
          { "edit\tn\th\tset-domain\twarps\tpingpong,2\tcooperative,1\t7\t128\t0x40\t-3" })
  answers('[{"name":"n","op":"pin","param":"stages","value":4}]', { "edit\tn\t\tpin\tstages\t4" })
end)

test("edits that do not fit are named, the others stay", function()
  local list = { EDIT, '{"name":"a","op":"explode","param":"p","values":[1]}',
    '{"name":"b","op":"pin","values":[1]}', '{"op":"pin","param":"p"}', '{"param":"p","values":[1]}',
    '{"name":3,"op":"pin","param":"p","values":[1]}', '{"name":"c","op":["pin"],"param":"p","values":[1]}',
    '{"name":"d","op":"pin","param":"p q","values":[1]}', '{"name":"e","op":"pin","param":"p","values":[1.5]}',
    '{"name":"f","op":"pin","param":"p","values":[null]}', '{"name":"g","op":"pin","param":"p","values":[[]]}',
    '{"name":"h","op":"pin","param":"p","values":["a b"]}', '{"name":"i","op":"pin","param":"p","values":[{"x":1}]}',
    '{"name":"j","op":"pin","param":"p","values":[[[1]]]}', '{"name":"k","op":"pin","param":"p","values":true}' }
  answers('[' .. table.concat(list, ",") .. ']', { LINE, "bad\tunknown op\tedit 2 (a) 'explode'",
    "bad\tit lacks 'param'\tedit 3 (b)", "bad\tit lacks 'values'\tedit 4", "bad\tit lacks 'op'\tedit 5",
    "bad\tnot a text: 'name'\tedit 6", "bad\tnot a text: 'op'\tedit 7 (c)", "bad\tnot a name\tedit 8 (d) 'p q'",
    "bad\ta value is no integer\tedit 9 (e)", "bad\ta value is neither integer nor string\tedit 10 (f)",
    "bad\ta value is an empty list\tedit 11 (g)",
    "bad\ta value has other characters than letters, digits, '_', '.', '+', '-'\tedit 12 (h)",
    "bad\ta value is neither integer nor string\tedit 13 (i)",
    "bad\ta value is neither integer nor string\tedit 14 (j)",
    "bad\ta value is neither integer nor string\tedit 15 (k)" }, { words = { "--ops", "set-domain,add-value,pin" } })
  answers('{"edits":[1,"x"]}', { "bad\tit is no object\tedit 1", "bad\tit is no object\tedit 2" })
  local many = {}
  for i = 1, 40 do many[i] = '{"name":"n","op":"pin","param":"p","values":[' .. i .. ']}' end
  local out = ask_server { "say [" .. table.concat(many, ",") .. "]" }
  holds(out, "edit\tn\t\tpin\tp\t32\nbad\tmore than 32 edits")
end)

test("no edits is said: empty, prose, truncated, of another type", function()
  answers("", { "none\tthe answer is empty" })
  answers(" \\n ", { "none\tthe answer is empty" })
  answers("I cannot [help] {you}.", { "none\tno JSON list of edits in the answer\tI cannot [help] {you}." })
  answers('{"edits": []}', { "none\tthe list of edits is empty" })
  answers('{"edits": 7}', { "none\t'edits' is no list" })
  answers('{"edits": [{"name":"deep","op":"add-v', { 'none\tno JSON list of edits in the answer\t' ..
    '{"edits": [{"name":"deep","op":"add-v' })
  -- what is whole of a list that was cut off counts, and the cut is told
  local out = ask_server { 'cutoff {"edits": [' .. EDIT .. ',{"name":"x","op":"pi' }
  same(out, "bad\tthe answer was cut off at the server's length limit\n" .. LINE .. "\n")
end)

test("control characters, UTF-8 and what is none end in one clean line", function()
  answers('[{"name":"tief\\\\u00e9 \xE2\x82\xAC","hypothesis":"a\\tb\\nc\\\\u001b[31m\\\\u0000\\\\u0085d","op":"pin",' ..
          '"param":"p","values":[1]}]', { "edit\ttief\xC3\xA9 \xE2\x82\xAC\ta b c [31m   d\tpin\tp\t1" })
  local out, code, transcript = ask_server { 'say \\xff\\xfe\\xed\\xa0\\x80 [{"name":"\\xc3(","op":"pin","param":"p","values":[1]}]' }
  same(out, "edit\t\xEF\xBF\xBD(\t\tpin\tp\t1\n")
  same(code, 0)
  entries(transcript)
  -- cut between characters
  out = ask_server { 'say [{"name":"' .. ("\xE2\x82\xAC"):rep(40) .. '","op":"pin","param":"p","values":[1]}]' }
  same(out, "edit\t" .. ("\xE2\x82\xAC"):rep(26) .. "\t\tpin\tp\t1\n")
end)

test("brackets without end and a huge answer cost no more than a moment", function()
  local t0 = host.now()
  local out, code = ask { "LOOM_LLM_CMD=head -c 4000000 /dev/zero | tr '\\0' '['" }
  same(code, 0)
  holds(out, "none\tno JSON list of edits in the answer\t[[[[")
  out, code = ask { "LOOM_LLM_CMD=yes '[1,' | head -c 4000000" }
  same(code, 0)
  holds(out, "none\t")
  out, code = ask_server { "huge 9" }
  same(code, 1)
  holds(out, "the response has more than 8 MiB")
  out, code = ask_server { "endless" }
  same(code, 1)
  holds(out, "the response has more than 8 MiB")
  out, code = ask { "LOOM_LLM_CMD=cat /dev/zero" }
  same(code, 1)
  holds(out, "the command's answer has more than 8 MiB")
  assert(host.now() - t0 < 30, "it took " .. host.now() - t0 .. " s")
end)

-- Servers that fail --------------------------------------------------------------------------------

test("a 400 that names temperature is asked again without it, once", function()
  local out, code, transcript, log = ask_server { "picky", "say [" .. EDIT .. "]" }
  same(out .. code, LINE .. "\n0")
  local _, first = log:find('"temperature":0.8', 1, true)
  assert(first and not log:find("temperature", first, true))
  same(#entries(transcript), 4)
  out, code, transcript = ask_server { "body 400 no temperature please" }
  same(code, 1)
  holds(out, "status 400: no temperature please")
  same(#entries(transcript), 4)
end)

test("429, 5xx, lost connections are tried again; other refusals are not", function()
  local out, code, transcript = ask_server { "retry 429 0", "drop", "cut", "say [" .. EDIT .. "]" }
  same(out .. code, LINE .. "\n0")
  same(#entries(transcript), 8)
  out, code, transcript = ask_server { "body 500 {\"error\":{\"message\":\"on fire\"}}" }
  same(code, 1)
  holds(out, "/v1/chat/completions: status 500: on fire (4 tries)\n")
  same(#entries(transcript), 8)
  for _, status in ipairs { 401, 404, 302 } do
    out, code, transcript = ask_server { "body " .. status .. " no" }
    same(code, 1)
    holds(out, "status " .. status .. ": no\n")
    same(#entries(transcript), 2)
  end
end)

test("Retry-After is obeyed", function()
  local t0 = host.now()
  local out = ask_server { "retry 503 1", "say [" .. EDIT .. "]" }
  same(out, LINE .. "\n")
  assert(host.now() - t0 >= 1, "it came back too early")
end)

test("a hanging server and a refused connection end in one line", function()
  local t0 = host.now()
  local out, code, transcript = ask_server({ "hang" }, { words = { "--timeout", "0.3", "--tries", "2" } })
  same(code, 1)
  holds(out, "error\thttp://127.0.0.1:")
  holds(out, "timed out")
  holds(out, "(2 tries)\n")
  same(#entries(transcript), 4)
  assert(host.now() - t0 < 10, "it took " .. host.now() - t0 .. " s")
  local s = serve "hang"
  s.stop()
  out, code = ask { "LOOM_LLM_URL=" .. s.url }
  same(code, 1)
  holds(out, "connect")
  lacks(out, "tries")
end)

test("a 200 that is no completion is an answer without edits and says what it is", function()
  for body, want in pairs {
    ["<html>busy</html>"] = "the response is no JSON\t<html>busy</html>",
    [""] = "the response is no JSON",
    ['{"choices":[]}'] = 'the response is no chat completion\t{"choices":[]}',
    ['{"choices":[{"message":{"content":'] = 'the response is no JSON\t{"choices":[{"message":{"content":',
    ['{"error":"model not loaded"}'] = "the response is no chat completion\tmodel not loaded",
    ['[1,2]'] = "the response is no chat completion\t[1,2]",
    ['{"choices":[{"message":{"content":null,"refusal":"I will not"}}]}'] =
      "the response is no chat completion\tI will not",
  } do
    local out, code = ask_server { "body 200 " .. body }
    same(out .. code, "none\t" .. want .. "\n0")
  end
end)

test("the address may end in a slash, in the whole path, or be wrong", function()
  local s = serve("say [" .. EDIT .. "]")
  for _, tail in ipairs { "", "/", "/chat/completions", "/chat/completions/", "?api-version=1" } do
    local want = tail:find "?" and "" or LINE .. "\n"
    local out = ask { "LOOM_LLM_URL=" .. s.url .. tail }
    if want ~= "" then same(out, want) else lacks(out, "api-version") end
  end
  s.stop()
  for _, url in ipairs { "ftp://127.0.0.1/v1", "http://", "not an address", "file:///etc/passwd" } do
    local out, code = ask { "LOOM_LLM_URL=" .. url }
    same(code, 1)
    same(out, "error\tLOOM_LLM_URL is no http:// or https:// address\n")
  end
  same(ask(), "error\tset LOOM_LLM_URL or LOOM_LLM_CMD\n")
end)

-- The key -------------------------------------------------------------------------------------------

test("the key stands in no output and no transcript, however the server echoes it", function()
  local s = serve("echo 200", "echo 401", "echo 400", "body 200 " .. KEY, 'body 418 {"error":"' .. KEY:gsub("/", "\\\\/") .. '"}',
    "body 200 half " .. KEY:sub(1, 12), "echo 500", "echo 500", "echo 500", "echo 500")
  local transcript, all = fresh "llm.jsonl", {}
  for _ = 1, 7 do all[#all + 1] = ask({ "LOOM_LLM_URL=" .. s.url }, { transcript = transcript }) end
  s.stop()
  holds(host.read(s.log), KEY)
  all[#all + 1] = ask({ "LOOM_LLM_CMD=echo \"$LOOM_LLM_KEY\" >&2; echo \"key $LOOM_LLM_KEY\"; exit 3" }, { transcript = transcript })
  all[#all + 1] = ask({ "LOOM_LLM_CMD=echo '[{\"name\":\"'$LOOM_LLM_KEY'\",\"op\":\"pin\",\"param\":\"p\",\"values\":[1]}]'" },
    { transcript = transcript })
  all[#all + 1] = ask({ "LOOM_LLM_URL=http://user:" .. KEY:gsub("/", "%%2F") .. "@127.0.0.1:1/v1?key=" .. KEY },
    { transcript = transcript })
  all[#all + 1] = ask({ "LOOM_LLM_URL=http://127.0.0.1:1", "LOOM_LLM_KEY= " .. KEY .. "\r\n" },
    { transcript = transcript, request = "@@ user\nmy key is " .. KEY .. "\n" })
  local text = table.concat(all) .. host.read(transcript)
  holds(text, "***")
  entries(host.read(transcript))
  for _, form in ipairs { KEY, (KEY:gsub("/", "\\/")), "sk-test", "Geheim", "\\u0073\\u006b" } do
    lacks(text:gsub("\\+", "\\"), form)
  end
  local out, code = ask { "LOOM_LLM_URL=http://127.0.0.1:1", "LOOM_LLM_KEY=a\nb: c" }
  same(code, 1)
  same(out, "error\tLOOM_LLM_KEY holds white space or a control character\n")
end)

-- Commands ------------------------------------------------------------------------------------------

test("a command gets the user text and answers; it goes before the address", function()
  local seen = fresh "seen"
  local out, code, transcript = ask { "LOOM_LLM_CMD=cat > '" .. seen .. "'; echo '[" .. EDIT .. "]'",
    "LOOM_LLM_URL=http://127.0.0.1:1" }
  same(out .. code, LINE .. "\n0")
  same(host.read(seen), "the spec\n")
  same(#entries(transcript), 2)
  same(entries(transcript)[1].command, "true")
  lacks(transcript, seen) -- the command's text may hold a key
  -- one that does not read, asked more than a pipe holds
  out, code = ask({ "LOOM_LLM_CMD=echo '[" .. EDIT .. "]'" }, { request = "@@ user\n" .. ("x\n"):rep(200000) })
  same(out .. code, LINE .. "\n0")
end)

test("a command that fails, dies or hangs is one line, and nothing of it is left", function()
  local out, code = ask { "LOOM_LLM_CMD=echo first >&2; echo 'no such model' >&2; exit 3" }
  same(out .. code, "error\tthe command ends with 3: no such model\n1")
  out = ask { "LOOM_LLM_CMD=kill -9 $$" }
  same(out, "error\tsignal 9 ended the command\n")
  out = ask { "LOOM_LLM_CMD=/no/such/program" }
  holds(out, "error\tthe command ends with 127: ")
  local pids = fresh "pids"
  local t0 = host.now()
  out = ask({ "LOOM_LLM_CMD=sleep 88 & echo $! >> '" .. pids .. "'; (sleep 88 & echo $! >> '" .. pids .. "'; wait) | cat" },
    { words = { "--timeout", "0.5" } })
  same(out, "error\tno answer from the command within 0.5 s\n")
  assert(host.now() - t0 < 10)
  -- one that leaves a process behind
  out = ask { "LOOM_LLM_CMD=sleep 88 & echo $! >> '" .. pids .. "'; echo '[" .. EDIT .. "]'" }
  same(out, LINE .. "\n")
  local count = 0
  for pid in host.read(pids):gmatch("%d+") do
    local function lives()
      local stat = host.read("/proc/" .. pid .. "/stat")
      return stat and not stat:find "%) [ZX] "
    end
    -- a killed process may take a moment to go
    for _ = 1, 100 do
      if lives() then sh.run { "sleep", "0.05" } end
    end
    assert(not lives(), "process " .. pid .. " lives on")
    count = count + 1
  end
  same(count, 3)
end)

test("a command does not outlive a loom-llm that is killed", function()
  local pid_file, request = fresh "pid", fresh "request"
  assert(host.write(request, "@@ user\nx\n"))
  local child = host.spawn { argv = { LLM, "--request", request },
    env = environment { "LOOM_LLM_CMD=sleep 88 & echo $! > '" .. pid_file .. "'; wait" } }
  local until_ = host.now() + 10
  while not (host.read(pid_file) or ""):find "\n" do
    assert(host.now() < until_, "the command does not start")
    child:recv(0.02)
  end
  child:kill()
  local pid = host.read(pid_file):match "%d+"
  local function gone()
    local stat = host.read("/proc/" .. pid .. "/stat")
    return not stat or stat:find "%) [ZX] "
  end
  local pause = host.pool(1)
  while not gone() and host.now() < until_ do
    pause:submit { argv = { "sleep", "0.02" } }
    pause:wait()
  end
  assert(gone(), "it does")
end)

-- The program ---------------------------------------------------------------------------------------

test("requests and options that are wrong are refused; help is printed", function()
  for request, want in pairs {
    [""] = "the request has no line '@@ user'", ["@@ system\nx\n"] = "the request has no line '@@ user'",
    ["hello\n@@ user\n"] = "the request does not begin with a line '@@ system' or '@@ user'",
  } do
    local out, code = ask({ "LOOM_LLM_CMD=cat" }, { request = request })
    same(out .. code, "error\t" .. want .. "\n1")
  end
  for _, words in ipairs { { "--nonsense", "1" }, { "--timeout" }, { "--timeout", "soon" }, { "--tries", "0" } } do
    local _, code = ask({ "LOOM_LLM_CMD=cat" }, { words = words })
    same(code, 2)
  end
  local r = sh.run { LLM, "--help" }
  same(r.code, 0)
  holds(r.output, "LOOM_LLM_URL")
  local out, code = ask({ "LOOM_LLM_CMD=cat" }, { transcript = dir .. "/no/such/folder/x" })
  same(code, 1)
  holds(out, "error\tcannot open '")
end)

test("the transcript is appended to, torn lines and all, and only its owner reads it", function()
  local path = fresh "llm.jsonl"
  assert(host.write(path, '{"kind":"torn'))
  ask({ "LOOM_LLM_CMD=printf 'a\\001\\377b'" }, { transcript = path })
  ask({ "LOOM_LLM_CMD=cat" }, { transcript = path })
  local text = host.read(path)
  same(text:match "^[^\n]*", '{"kind":"torn')
  local list = entries(text:gsub("^[^\n]*\n", ""))
  same(#list, 4)
  same(list[2].response, "a\\u0001\xEF\xBF\xBDb")
  local other = fresh "llm.jsonl"
  ask({ "LOOM_LLM_CMD=cat" }, { transcript = other })
  same(sh.run({ "stat", "-c", "%a", other }).output, "600\n")
end)

return tests
