package keyring

import "io/fs"

// others returns the permissions that the file of keys must not give. Windows has none of them.
func others(fs.FileInfo) fs.FileMode { return 0 }
