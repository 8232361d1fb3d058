//@ local k = 2
  //@ for i = 0, k - 1 do   -- an indented directive leaves no line
  row($i);
    //@   if i % 2 == 1 then
  odd($i);   // only here
    //@   else
  even($i);
    //@   end
  //@ end
//@
//@ local t = {
//@   "a", 'b',  -- a statement over several directives
//@   --[[ a comment that ends ]] [==[c]==],
//@ }
$(table.concat(t, ", "))
