package openid

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// maxKeys is the maximum number of a provider's keys of each type, as on AWS. A token without the id of its key is
// compared with all of them.
const maxKeys = 100

// boundKeys removes the keys of each type of which an answer has more than maxKeys. It does not change an answer
// without keys, which the reader refuses.
func boundKeys(res *http.Response) (*http.Response, error) {
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close() // all of it was read, or an error is known
	if err != nil {
		return nil, err
	}
	if few, ok := fewKeys(text); ok {
		text = few
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	res.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return res, nil
}

// fewKeys returns a set of keys without the types of which it has too many.
func fewKeys(text []byte) ([]byte, bool) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(text, &set) != nil {
		return nil, false
	}
	types, number := make([]string, len(set.Keys)), make(map[string]int)
	for i, key := range set.Keys {
		var k struct {
			Type string `json:"kty"`
		}
		if json.Unmarshal(key, &k) != nil {
			return nil, false
		}
		types[i] = k.Type
		number[k.Type]++
	}
	few := set.Keys[:0]
	for i, key := range set.Keys {
		if number[types[i]] <= maxKeys {
			few = append(few, key)
		}
	}
	set.Keys = few
	out, err := json.Marshal(set)
	return out, err == nil
}
