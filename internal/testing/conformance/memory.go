// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// forgets: what a controller remembers of objects goes with them, also if writes about them have failed, or were made and not answered. (CT-14)
func forgets(t *testing.T, k *Subject, _ calm) {
	for what, err := range map[string]error{"writes fail": fixture.ErrInternal, "answers are lost": fixture.ErrLost} {
		t.Run(what, func(t *testing.T) {
			k.play(t, func(c *Cluster) {
				var writes atomic.Int64
				fail := func(r fakecluster.Request) error {
					if r.User == fixture.ControllerUser && !reads(&r) && writes.Add(1)%3 == 1 {
						return err
					}
					return nil
				}
				if errors.Is(err, fixture.ErrLost) {
					c.fail(nil, fail)
				} else {
					c.fail(fail, nil)
				}
				defer c.start()()
				c.comeAndGo("web-1", "web-2")
				before := remembered(c.memory)
				c.comeAndGo("web-3", "web-4", "web-5", "web-6")
				c.expectNoMore("after four more objects came and went", before)
			})
		})
	}
}

// comeAndGo has objects come, change and go, one after the other. Two hours later all that was to end after a time has.
func (c *Cluster) comeAndGo(names ...string) {
	c.T.Helper()
	for _, name := range names {
		c.kind.Create(c, name)
		c.steps(10)
		c.change(name)
		c.steps(10)
		c.DeleteNamed(name)
		c.steps(10)
		c.Erase(name) // what others let stay, as a kubelet that does not act
		for range 10 {
			c.CollectGarbage()
			c.step()
		}
		if left := c.named(name); len(left) > 0 {
			c.T.Errorf("%v are still there", left)
		}
	}
	c.minutes(120)
}

// named lists the objects that have a name, or one that begins with it.
func (c *Cluster) named(name string) []string {
	return slices.DeleteFunc(c.Objects(), func(o string) bool { return !strings.Contains(o+"-", "/"+name+"-") })
}

// expectNoMore checks that the controller remembers no more than it did before.
func (c *Cluster) expectNoMore(when string, before map[string]int) {
	c.T.Helper()
	after := remembered(c.memory)
	for _, where := range slices.Sorted(maps.Keys(after)) {
		if after[where] > before[where] {
			c.T.Errorf("%s, %s holds %d entries, and %d before", when, where, after[where], before[where])
		}
	}
}

// remembered counts the entries of all maps, slices and channels that can be reached from a controller, by the field they are in.
// Caches, clients, and what a test gave the controller are left out.
func remembered(of any) map[string]int {
	m := memory{entries: map[string]int{}, seen: map[uintptr]bool{}}
	m.walk(reflect.ValueOf(of), "")
	return m.entries
}

type memory struct {
	entries map[string]int
	seen    map[uintptr]bool
}

// remembers tells whether values of a type may be a controller's memory.
func remembers(t reflect.Type) bool {
	path := t.PkgPath()
	switch {
	case path == "", strings.HasPrefix(path, "k8s.io/client-go/util/workqueue"), strings.HasPrefix(path, "sync"):
		return true
	}
	return strings.HasPrefix(path, "github.com/podwright/podwright/") && !strings.Contains(path, "/internal/testing/fakecluster") &&
		!strings.Contains(path, "/internal/testing/conformance") && !strings.HasSuffix(path, "_test") && !strings.HasSuffix(path, "/client")
}

func (m *memory) walk(v reflect.Value, where string) {
	if !v.IsValid() || !remembers(v.Type()) {
		return
	}
	if v.Type() == reflect.TypeFor[sync.Map]() {
		reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Interface().(*sync.Map).Range(func(_, value any) bool {
			m.entries[where]++
			m.walk(reflect.ValueOf(value), where+"[]")
			return true
		})
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !m.seen[v.Pointer()] {
			m.seen[v.Pointer()] = true
			m.walk(v.Elem(), where)
		}
	case reflect.Interface:
		m.walk(v.Elem(), where)
	case reflect.Struct:
		for i := range v.NumField() {
			m.walk(v.Field(i), fmt.Sprintf("%s.%s", where, v.Type().Field(i).Name))
		}
	case reflect.Map:
		m.entries[where] += v.Len()
		for values := v.MapRange(); values.Next(); {
			m.walk(values.Value(), where+"[]")
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			m.entries[where] += v.Len()
		}
		for i := range v.Len() {
			m.walk(v.Index(i), where+"[]")
		}
	case reflect.Chan:
		m.entries[where] += v.Len()
	}
}
