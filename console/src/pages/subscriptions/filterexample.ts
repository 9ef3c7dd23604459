/** filterExample is a filter policy to begin with. */
export const filterExample = `{
  "event": ["order_placed", {"prefix": "order_"}],
  "price": [{"numeric": [">=", 100]}]
}`
