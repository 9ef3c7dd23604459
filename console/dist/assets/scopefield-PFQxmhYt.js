import{d as e}from"./react-Cjai1eli.js";import{t}from"./segmentfield-DVXRI63-.js";var n=`{
  "event": ["order_placed", {"prefix": "order_"}],
  "price": [{"numeric": [">=", 100]}]
}`,r=e();function i({scope:e,choose:n}){return(0,r.jsx)(t,{label:`Filter policy scope`,chosen:e,options:[{id:`MessageAttributes`,text:`Message attributes`},{id:`MessageBody`,text:`Message body`}],choose:n})}export{n,i as t};