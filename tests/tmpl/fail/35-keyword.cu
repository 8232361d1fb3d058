a $end
