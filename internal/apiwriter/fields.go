// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"maps"
	"strings"
)

// fields are hashes of values by the hashes of their paths in an object: unknown for a value that is not compared.
type fields map[uint64]uint64

// unknown is an empty text, as times and versions are in what is compared. It is the same as no other value: what
// goes, and comes back with another time, did not stay away.
const unknown = 0

// mostFields is how many fields of an object are remembered; of a write of more it counts only as a whole.
const mostFields = 64

// fieldsOf returns what JSON texts, one behind the other, write to which field. There is one value for what several say of
// the same field, as what was found there and what is wanted. A text that is no JSON is one field, and so are texts that
// name none whose value is known.
func fieldsOf(wanted string) fields {
	of := fields{}
	for decoder := json.NewDecoder(strings.NewReader(wanted)); ; {
		var text any
		err := decoder.Decode(&text)
		if errors.Is(err, io.EOF) && of.known() && len(of) <= mostFields {
			return of
		}
		if err != nil {
			return fields{0: maphash.String(seed, wanted)}
		}
		if object, ok := text.(map[string]any); ok {
			of.add("", object)
		}
	}
}

// ofKubelets is what controllers write ahead of kubelets, which decide it each time a container starts or ends: that it changed
// is no contest.
const ofKubelets = "/status/conditions/Ready"

// add adds a value. Objects in lists count as a whole, by their names.
func (f fields) add(path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, value := range value {
			if at := path + "/" + key; at != "/metadata/uid" && !strings.HasPrefix(key, "$") { // of which object, and how to merge
				f.add(at, value)
			}
		}
		return
	case []any:
		named := len(value) > 0
		for _, element := range value {
			named = named && NameIn(element) != ""
		}
		for _, element := range value {
			if at := path + "/" + NameIn(element); named && at != ofKubelets {
				f.set(at, element)
			}
		}
		if named {
			return
		}
	}
	f.set(path, value)
}

func (f fields) set(path string, value any) {
	at := maphash.String(seed, path)
	if value == "" {
		f[at] = max(f[at], unknown)
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		text = nil // it was decoded from JSON
	}
	f[at] = 31*f[at] + maphash.Bytes(seed, text)
}

// known tells whether the value of any field is known.
func (f fields) known() bool {
	for _, value := range f {
		if value != unknown {
			return true
		}
	}
	return false
}

// shares tells whether a field has the same value in both.
func (f fields) shares(other fields) bool {
	for path, value := range other {
		if is, found := f[path]; found && is == value && value != unknown {
			return true
		}
	}
	return false
}

// with returns both, the other one if both have a value. The other one alone, if both were too many.
func (f fields) with(other fields) fields {
	both := maps.Clone(f)
	if both == nil {
		both = fields{}
	}
	maps.Copy(both, other)
	if len(both) > mostFields {
		return other
	}
	return both
}

// NameIn is what tells an object in a list from the others: its name, its type or its UID; empty if it has none.
func NameIn(element any) string {
	object, _ := element.(map[string]any)
	for _, key := range []string{"name", "type", "uid"} {
		if name, ok := object[key].(string); ok && name != "" {
			return name
		}
	}
	return ""
}
