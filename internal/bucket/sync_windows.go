package bucket

const syncsDirectories = false
