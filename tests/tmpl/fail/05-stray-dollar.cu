a
b
cost: 5$
