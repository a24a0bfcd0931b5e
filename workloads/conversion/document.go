// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// document is a JSON object, read one level deep: a value is a json.RawMessage
// as long as nobody has looked inside.
type document map[string]any

// parse reads a JSON object.
func parse(data []byte) (document, error) {
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

// object returns the object under a key that has not been changed yet; nil
// where there is none, or null. The result is the caller's: what it changes
// there must be put back under the key.
func (d document) object(key string) (document, error) {
	value, _ := d[key].(json.RawMessage)
	if value == nil || string(value) == "null" {
		return nil, nil
	}
	object, err := parse(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return object, nil
}

// text returns the string under a key, "" where there is none.
func (d document) text(key string) string {
	var text string
	value, _ := d[key].(json.RawMessage)
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
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
