var e=`{
  "event": ["order_placed", {"prefix": "order_"}],
  "price": [{"numeric": [">=", 100]}]
}`;export{e as t};