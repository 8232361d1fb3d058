-- outdir: where things lie below OUT (default: out/ of the project): kernels/, cache/, store.db,
-- worker.log. Messages show paths of the project relative to it.

local outdir = {}

function outdir.path(opt, name)
  return (opt.out or host.root .. "/out") .. "/" .. name
end

function outdir.store(opt)
  return opt.store or outdir.path(opt, "store.db")
end

-- A path as messages show it.
function outdir.shown(path)
  local root = host.root .. "/"
  return path:sub(1, #root) == root and path:sub(#root + 1) or path
end

return outdir
