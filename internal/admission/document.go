// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Path is that of a field of an object: the names from the root down.
type Path []string

// String joins the names with dots.
func (p Path) String() string { return strings.Join(p, ".") }

// document is a JSON object, read as deep as code has looked. A value is a
// json.RawMessage, a document, or what has been put there to be marshalled.
type document map[string]any

// parseDocument reads a JSON object.
func parseDocument(data []byte) (document, error) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(data, &fields)
	if err != nil && !json.Valid(data) {
		return nil, err
	}
	if err != nil || fields == nil {
		return nil, fmt.Errorf("want an object, got %s", typeName(data))
	}
	d := make(document, len(fields))
	for key, value := range fields {
		d[key] = value
	}
	return d, nil
}

// object returns the object under a key, to be changed in place; nil if there
// is none, or null.
func (d document) object(key string) (document, error) {
	switch value := d[key].(type) {
	case document:
		return value, nil
	case json.RawMessage:
		if string(value) == "null" {
			return nil, nil
		}
		object, err := parseDocument(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		d[key] = object
		return object, nil
	}
	return nil, nil
}

// parent returns the object that holds the field at a path. If there is none
// it is made, or nil is returned.
func (d document) parent(path Path, make bool) (document, error) {
	for i, key := range path[:len(path)-1] {
		next, err := d.object(key)
		if err != nil {
			return nil, within(path[:i], err)
		}
		if next == nil && !make {
			return nil, nil
		}
		if next == nil {
			next = document{}
			d[key] = next
		}
		d = next
	}
	return d, nil
}

// get returns the value at a path, nil if there is none.
func (d document) get(path Path) (any, error) {
	parent, err := d.parent(path, false)
	return parent[path[len(path)-1]], err
}

// put puts a value at a path, with the objects around it.
func (d document) put(path Path, value any) error {
	parent, err := d.parent(path, true)
	if err == nil {
		parent[path[len(path)-1]] = value
	}
	return err
}

// take removes the value at a path and returns it, nil if there is none.
func (d document) take(path Path) (any, error) {
	parent, err := d.parent(path, false)
	if parent == nil || err != nil {
		return nil, err
	}
	key := path[len(path)-1]
	value := parent[key]
	delete(parent, key)
	return value, nil
}

// merge puts what another document holds into this one, value by value. A value that both have is that of the other.
func (d document) merge(other document) {
	for key, value := range other {
		one, two := asObject(d[key]), asObject(value)
		if one != nil && two != nil {
			one.merge(two)
			value = one
		}
		d[key] = value
	}
}

// asObject is a value of a document as an object, nil if it is none.
func asObject(value any) document {
	switch value := value.(type) {
	case document:
		return value
	case json.RawMessage:
		if object, err := parseDocument(value); err == nil {
			return object
		}
	}
	return nil
}

// text returns the string under a key, "" if there is none.
func (d document) text(key string) string {
	var text string
	value, _ := d[key].(json.RawMessage)
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// within says in which object an error is.
func within(path Path, err error) error {
	if len(path) == 0 {
		return err
	}
	return fmt.Errorf("%s.%w", path, err)
}

// sameJSON tells whether two values are the same in JSON.
func sameJSON(a, b any) bool {
	one, err1 := normal(a)
	two, err2 := normal(b)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// normal is a value in JSON with sorted keys, without spaces, and numbers as
// they are written.
func normal(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// typeName is what JSON calls a value.
func typeName(value []byte) string {
	value = bytes.TrimSpace(value)
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
