// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"reflect"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A layout is what a value of a type consists of. So two of them are compared without reflection,
// which takes ten times as long. Nested structs are one list of parts. It is made of the type
// itself, so that it knows the fields of every release of Kubernetes' API.
type layout struct {
	size  uintptr
	parts []part
	lists []part // those that settle has to do with, or that point to some
}

// part is a field, or a part of one.
type part struct {
	kind    kind
	offset  uintptr
	size    uintptr      // of memory
	of      *layout      // what a pointer points to, an element of a slice, or a value of another map
	mapping reflect.Type // another map
}

type kind uint8

const (
	memory    kind = iota // numbers and what is not looked into, equal if all bytes are
	text                  // a string
	pointer               // to what of describes
	list                  // a slice of what of describes
	texts                 // a map[string]string
	resources             // a corev1.ResourceList, or a map of its types
	quantity              // a resource.Quantity
	mapping               // another map
)

// A slice as the runtime has it; its elements are those of a layout.
type header struct {
	data     unsafe.Pointer
	len, cap int
}

// layouts holds the layouts of the types of one kind of objects; a type may contain itself.
type layouts map[reflect.Type]*layout

func newLayout(t reflect.Type) *layout {
	ls := layouts{}
	root := ls.of(t)
	for more := true; more; { // until no type is found that points to one with such parts
		more = false
		for _, l := range ls {
			before := len(l.lists)
			l.lists = l.lists[:0]
			for _, p := range l.parts {
				if p.kind == list || p.kind == quantity || (p.kind == pointer || p.kind == mapping) && len(p.of.lists) > 0 {
					l.lists = append(l.lists, p)
				}
			}
			more = more || len(l.lists) > before
		}
	}
	return root
}

func (ls layouts) of(t reflect.Type) *layout {
	if l, found := ls[t]; found {
		return l
	}
	l := &layout{size: t.Size()}
	ls[t] = l
	ls.add(l, t, 0, true)
	return l
}

// add adds the parts of a type to a layout. What a field points to that its package does not
// export is not looked into. It may be of all programs, as a time zone is.
func (ls layouts) add(l *layout, t reflect.Type, offset uintptr, exported bool) {
	p := part{offset: offset, size: t.Size()}
	if t == reflect.TypeFor[resource.Quantity]() {
		p.kind = quantity
		l.parts = append(l.parts, p)
		return
	}
	switch t.Kind() {
	case reflect.String:
		p.kind = text
		l.parts = append(l.parts, p)
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			ls.add(l, field.Type, offset+field.Offset, exported && field.IsExported())
		}
	case reflect.Array:
		for i := range t.Len() {
			ls.add(l, t.Elem(), offset+uintptr(i)*t.Elem().Size(), exported)
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if exported {
			l.parts = append(l.parts, ls.reference(p, t))
			return
		}
		l.addMemory(p)
	default:
		l.addMemory(p)
	}
}

func (ls layouts) reference(p part, t reflect.Type) part {
	switch {
	case t.Kind() == reflect.Pointer:
		p.kind, p.of = pointer, ls.of(t.Elem())
	case t.Kind() == reflect.Slice:
		p.kind, p.of = list, ls.of(t.Elem())
	case t == reflect.TypeFor[map[string]string]():
		p.kind = texts
	case t.ConvertibleTo(reflect.TypeFor[corev1.ResourceList]()):
		p.kind = resources
	default:
		p.kind, p.mapping, p.of = mapping, t, ls.of(t.Elem())
	}
	return p
}

// addMemory adds memory to the memory before it, if that ends there. So the gaps between fields,
// which may hold anything, are never compared.
func (l *layout) addMemory(p part) {
	if last := len(l.parts) - 1; last >= 0 && l.parts[last].kind == memory && l.parts[last].offset+l.parts[last].size == p.offset {
		l.parts[last].size += p.size
		return
	}
	l.parts = append(l.parts, p)
}

// merge has a value share with another one of its type the largest parts that are equal in both. It
// tells whether all is equal. It writes to the first value only, and never anything but what equals
// what stood there: nil is not equal to empty. The other one is only read.
func (l *layout) merge(value, other unsafe.Pointer) bool {
	equal := true
	for i := range l.parts {
		p := &l.parts[i]
		a, b := unsafe.Add(value, p.offset), unsafe.Add(other, p.offset)
		same := false
		switch p.kind {
		case memory:
			same = unsafe.String((*byte)(a), p.size) == unsafe.String((*byte)(b), p.size)
		case text:
			same = mergeText((*string)(a), (*string)(b))
		case pointer:
			same = p.mergePointer((*unsafe.Pointer)(a), (*unsafe.Pointer)(b))
		case list:
			same = p.of.mergeList((*header)(a), (*header)(b))
		case texts:
			same = mergeTexts((*map[string]string)(a), (*map[string]string)(b))
		case resources:
			same = mergeResources((*corev1.ResourceList)(a), (*corev1.ResourceList)(b))
		case quantity:
			spell((*resource.Quantity)(a))
			same = *(*resource.Quantity)(a) == *(*resource.Quantity)(b)
		case mapping:
			same = p.mergeMapping(reflect.NewAt(p.mapping, a).Elem(), reflect.NewAt(p.mapping, b).Elem())
		}
		equal = equal && same
	}
	return equal
}

func mergeText(a, b *string) bool {
	if *a != *b {
		return false
	}
	*a = *b
	return true
}

func (p *part) mergePointer(a, b *unsafe.Pointer) bool {
	if *a == *b {
		return true
	}
	if *a == nil || *b == nil || !p.of.merge(*a, *b) {
		return false
	}
	*a = *b
	return true
}

// mergeList shares what is equal, element by element, if not all is.
func (l *layout) mergeList(a, b *header) bool {
	if a.data == b.data && a.len == b.len {
		return true
	}
	equal := a.len == b.len && (a.data == nil) == (b.data == nil)
	if equal && len(l.parts) == 1 && l.parts[0].kind == memory && l.parts[0].size == l.size { // as of bytes
		equal = unsafe.String((*byte)(a.data), uintptr(a.len)*l.size) == unsafe.String((*byte)(b.data), uintptr(b.len)*l.size)
	} else {
		equal = l.mergeElements(a, b) && equal
	}
	if equal {
		a.data, a.cap = b.data, b.len // an append to it gets memory of its own
	}
	return equal
}

func (l *layout) mergeElements(a, b *header) bool {
	equal := true
	for i := range uintptr(min(a.len, b.len)) {
		equal = l.merge(unsafe.Add(a.data, i*l.size), unsafe.Add(b.data, i*l.size)) && equal
	}
	return equal
}

func mergeTexts(a, b *map[string]string) bool {
	if len(*a) == 0 || len(*b) == 0 || *(*unsafe.Pointer)(unsafe.Pointer(a)) == *(*unsafe.Pointer)(unsafe.Pointer(b)) {
		return len(*a) == len(*b) && (*a == nil) == (*b == nil)
	}
	equal := len(*a) == len(*b)
	if equal {
		for key, value := range *b {
			if own, found := (*a)[key]; !found || own != value {
				equal = false
				break
			}
		}
	}
	if equal {
		*a = *b
		return true
	}
	for key, value := range *b {
		own, found := (*a)[key]
		switch {
		case !found:
		case own == value:
			(*a)[key] = value // which replaces the memory of the key, too
		default:
			(*a)[key] = own
		}
	}
	return false
}

func mergeResources(a, b *corev1.ResourceList) bool {
	if *(*unsafe.Pointer)(unsafe.Pointer(a)) == *(*unsafe.Pointer)(unsafe.Pointer(b)) {
		return true
	}
	if len(*a) != len(*b) || (*a == nil) != (*b == nil) {
		return false
	}
	left := len(*b)
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} { // quicker than to go through a map
		own, found := (*a)[name]
		if quantity, has := (*b)[name]; found != has || own != quantity {
			return false
		} else if has {
			left--
		}
	}
	if left > 0 {
		for name, quantity := range *b {
			if own, found := (*a)[name]; !found || own != quantity {
				return false
			}
		}
	}
	*a = *b
	return true
}

// mergeMapping shares what is equal, value by value, if not all is.
func (p *part) mergeMapping(a, b reflect.Value) bool {
	if a.UnsafePointer() == b.UnsafePointer() {
		return true
	}
	equal := a.Len() == b.Len() && a.IsNil() == b.IsNil()
	own, other := reflect.New(p.mapping.Elem()).Elem(), reflect.New(p.mapping.Elem()).Elem()
	for all := b.MapRange(); all.Next(); {
		value := a.MapIndex(all.Key())
		if !value.IsValid() {
			equal = false
			continue
		}
		own.Set(value)
		other.SetIterValue(all)
		equal = p.of.merge(own.Addr().UnsafePointer(), other.Addr().UnsafePointer()) && equal
		a.SetMapIndex(all.Key(), own)
	}
	if equal {
		a.Set(b)
	}
	return equal
}

// spell has a quantity know how it is written, and tells whether it did not. Else its first reader does that, by a
// write to what others may read.
func spell(q *resource.Quantity) bool {
	before := *q
	_ = q.String()
	return *q != before
}

// settle makes a value fit for sharing, and tells whether it had to change it. No slice of it ends behind its
// last element then, so that an append to one gets memory of its own. No quantity is written to by a reader. What
// others share already is only read.
func (l *layout) settle(value unsafe.Pointer) (changed bool) {
	for i := range l.lists {
		switch p, at := &l.lists[i], unsafe.Add(value, l.lists[i].offset); p.kind {
		case pointer:
			if to := *(*unsafe.Pointer)(at); to != nil {
				changed = p.of.settle(to) || changed
			}
		case list:
			of := (*header)(at)
			if of.cap > of.len {
				of.cap, changed = of.len, true
			}
			if len(p.of.lists) > 0 {
				for i := range uintptr(of.len) {
					changed = p.of.settle(unsafe.Add(of.data, i*p.of.size)) || changed
				}
			}
		case quantity:
			changed = spell((*resource.Quantity)(at)) || changed
		case mapping:
			changed = p.settleMapping(reflect.NewAt(p.mapping, at).Elem()) || changed
		}
	}
	return changed
}

func (p *part) settleMapping(m reflect.Value) (changed bool) {
	if m.Len() == 0 {
		return false
	}
	own := reflect.New(p.mapping.Elem()).Elem()
	for all := m.MapRange(); all.Next(); {
		own.SetIterValue(all)
		if p.of.settle(own.Addr().UnsafePointer()) {
			m.SetMapIndex(all.Key(), own)
			changed = true
		}
	}
	return changed
}
