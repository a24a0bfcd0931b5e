// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// comparison collects in what CRDs are not as their contracts say.
type comparison struct{ differences []string }

// differences compares CRDs with contracts, both by name.
func differences(contracts, crds map[string]contract) []string {
	var c comparison
	for _, name := range slices.Sorted(maps.Keys(contracts)) {
		if crd, ok := crds[name]; ok {
			c.compareKind(contracts[name], crd)
		} else {
			c.say(name, "CRD", contracts[name].Kind, nil)
		}
	}
	return c.differences
}

// say notes a difference. Nil means that there is nothing.
func (c *comparison) say(at, what string, want, found any) {
	c.differences = append(c.differences, fmt.Sprintf("%s: %s: want %s, found %s", at, what, show(want), show(found)))
}

func (c *comparison) compare(at, what string, want, found any) {
	if !reflect.DeepEqual(want, found) {
		c.say(at, what, want, found)
	}
}

func show(value any) string {
	data, err := json.Marshal(value)
	switch {
	case err != nil:
		return fmt.Sprint(value)
	case string(data) == "null":
		return "none"
	}
	return string(data)
}

func (c *comparison) compareKind(want, found contract) {
	at := want.name()
	c.compare(at, "kind", want.Kind, found.Kind)
	c.compare(at, "listKind", want.ListKind, found.ListKind)
	c.compare(at, "singular", want.Singular, found.Singular)
	c.compareLists(at, "shortNames", want.ShortNames, found.ShortNames)
	c.compareLists(at, "categories", want.Categories, found.Categories)
	c.compare(at, "scope", want.Scope, found.Scope)
	for _, v := range want.Versions {
		i := slices.IndexFunc(found.Versions, func(f version) bool { return f.Name == v.Name })
		if i < 0 {
			c.say(at, "version", v.Name, nil)
			continue
		}
		c.compareVersion(at+" "+v.Name, v, found.Versions[i])
	}
}

// compareLists takes an empty list for none.
func (c *comparison) compareLists(at, what string, want, found []string) {
	if !slices.Equal(want, found) {
		c.say(at, what, want, found)
	}
}

func (c *comparison) compareVersion(at string, want, found version) {
	c.compare(at, "served", want.Served, found.Served)
	c.compare(at, "storage", want.Storage, found.Storage)
	c.compare(at, "subresource status", want.Subresources.Status, found.Subresources.Status)
	c.compare(at, "subresource scale", want.Subresources.Scale, found.Subresources.Scale)
	c.compareColumns(at, want.Columns, found.Columns)
	for _, path := range slices.Sorted(maps.Keys(want.Paths)) {
		if field, ok := found.Paths[path]; ok {
			c.compareAttributes(at+" "+path, want.Paths[path], field)
		} else {
			c.say(at+" "+path, "field", want.Paths[path], nil)
		}
	}
}

// compareColumns compares printer columns by name, and then the order of those
// that both have.
func (c *comparison) compareColumns(at string, want, found []column) {
	wanted, have := byName(want), byName(found)
	for _, column := range want {
		if other, ok := have[column.Name]; ok {
			c.compare(at, "column "+column.Name, wanted[column.Name], other)
		} else {
			c.say(at, "column "+column.Name, column, nil)
		}
	}
	for _, column := range found {
		if _, ok := wanted[column.Name]; !ok {
			c.say(at, "column "+column.Name, nil, column)
		}
	}
	c.compareLists(at, "order of columns", namesIn(have, want), namesIn(wanted, found))
}

// byName returns columns without the dot that a JSONPath may begin with.
func byName(columns []column) map[string]column {
	all := map[string]column{}
	for _, column := range columns {
		column.JSONPath = strings.TrimPrefix(column.JSONPath, ".")
		all[column.Name] = column
	}
	return all
}

// namesIn returns the names of the columns that the others have too.
func namesIn(others map[string]column, columns []column) []string {
	var names []string
	for _, column := range columns {
		if _, ok := others[column.Name]; ok {
			names = append(names, column.Name)
		}
	}
	return names
}
