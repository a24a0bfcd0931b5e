// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A rival is another writer: it says what an object is to be in the place of what the controller has made of it. It may change both that it
// is given, and returns nil for nothing.
type rival func(before, after map[string]any) map[string]any

// takesBack is a rival that puts back what was there before.
func takesBack(before, _ map[string]any) map[string]any { return before }

// inventor returns a rival that writes, to each field which the controller has written, a value that was never there before.
func inventor() rival {
	var times atomic.Int64
	return func(before, after map[string]any) map[string]any {
		n := times.Add(1)
		changed := false
		for _, part := range []string{"spec", "status", "data"} {
			changed = invent(before, after, part, n) || changed
		}
		if data, is := after["data"].(map[string]any); is && after["kind"] == "Secret" {
			for key := range data {
				data[key] = base64.StdEncoding.EncodeToString(fmt.Append(nil, n))
			}
		}
		was, _ := before["metadata"].(map[string]any)
		is, _ := after["metadata"].(map[string]any)
		for _, part := range []string{"labels", "annotations"} {
			changed = invent(was, is, part, n) || changed
		}
		for _, part := range []string{"finalizers", "ownerReferences"} { // whatever else stands there, ours does not
			if !reflect.DeepEqual(was[part], is[part]) {
				is[part], changed = was[part], true
			}
		}
		if !changed {
			return nil
		}
		return after
	}
}

// invent gives the values of a field that differ from those before new ones, and tells whether there were any.
func invent(before, after map[string]any, field string, n int64) bool {
	was, had := before[field]
	is, has := after[field]
	if reflect.DeepEqual(was, is) || had == has && reflect.DeepEqual(zero(was), zero(is)) {
		return false
	}
	value, changed := another(was, is, n)
	if changed {
		after[field] = value
	}
	return changed
}

// zero is a value without what changes with time.
func zero(value any) any {
	if text, ok := value.(string); ok && isTime(text) {
		return ""
	}
	return value
}

// another returns a value in the place of one that the controller has written, and whether there is one.
func another(was, is any, n int64) (any, bool) {
	switch is := is.(type) {
	case nil:
		if was == nil {
			return nil, false
		}
		return another(nil, was, n) // it was deleted
	case map[string]any:
		before, _ := was.(map[string]any)
		changed := false
		for key := range is {
			changed = invent(before, is, key, n) || changed
		}
		for key := range before {
			if _, stays := is[key]; !stays {
				changed = invent(before, is, key, n) || changed
			}
		}
		return is, changed
	case []any:
		before, _ := was.([]any)
		if len(is) != len(before) || len(is) == 0 {
			return was, was != nil
		}
		changed := false
		for i := range is {
			if !reflect.DeepEqual(before[i], is[i]) {
				value, differs := another(before[i], is[i], n)
				is[i], changed = value, changed || differs
			}
		}
		return is, changed
	case string:
		return anotherText(is, n)
	case int64:
		return is + 1000 + n, true
	case float64:
		return is + float64(1000+n), true
	case bool:
		return !is, true
	}
	return was, false
}

// invented is what the inventor has put behind a text before.
var invented = regexp.MustCompile(`-\d{1,4}$`)

var reference = regexp.MustCompile(`^[A-Za-z]+://`)

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// anotherText returns a text of the same kind: JSON, a quantity, or words.
func anotherText(text string, n int64) (any, bool) {
	var object map[string]any
	switch _, err := resource.ParseQuantity(text); {
	case isTime(text) || reference.MatchString(text):
		return text, false
	case err == nil:
		return fmt.Sprint(1000 + n), true
	case strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &object) == nil:
		if _, changed := another(nil, object, n); !changed {
			return text, false
		}
		data, err := json.Marshal(object)
		return string(data), err == nil
	}
	return fmt.Sprintf("%s-%d", invented.ReplaceAllString(text, ""), n), true
}
