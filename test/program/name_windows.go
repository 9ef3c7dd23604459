package program

const name = "sluice.exe"
