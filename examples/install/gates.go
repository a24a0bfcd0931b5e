// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/manager"
)

// extra is what a gate that is off by default adds to the objects of a part. It adds objects, and RBAC rules of those that
// are there. It may take rules away, too. What a gate takes away by being off stays: rights of a controller that does not
// run, and CRDs.
type extra struct {
	gate    string
	objects []*unstructured.Unstructured
	rules   map[string][]any // by kind, namespace and name of the role
	without map[string][]any // likewise
}

// extras returns what gates add, by the name of the part.
func extras(o Options, base *Objects) (map[string][]extra, error) {
	defaults, all := features.Flags{Release: podwright.Release14}.Defaults(), map[string][]extra{}
	for _, gate := range slices.Sorted(maps.Keys(defaults)) {
		if defaults[gate] {
			continue
		}
		with := o
		flag := "--feature-gates=" + gate + "=true"
		with.ManagerFlags, with.NodeAgentFlags = append(slices.Clip(o.ManagerFlags), flag), append(slices.Clip(o.NodeAgentFlags), flag)
		objects, err := New(with)
		if err != nil {
			return nil, err
		}
		for part, of := range map[string][2][]*unstructured.Unstructured{
			"crds": {base.CRDs, objects.CRDs}, "manager": {base.Manager, objects.Manager}, "nodeagent": {base.NodeAgent, objects.NodeAgent},
		} {
			if e := added(gate, of[0], of[1]); len(e.objects)+len(e.rules)+len(e.without) > 0 {
				all[part] = append(all[part], e)
			}
		}
	}
	return all, nil
}

func added(gate string, before, after []*unstructured.Unstructured) extra {
	e := extra{gate: gate, rules: map[string][]any{}, without: map[string][]any{}}
	for _, object := range after {
		same := slices.IndexFunc(before, func(b *unstructured.Unstructured) bool { return identity(b) == identity(object) })
		if same < 0 {
			if object.GetKind() == "CustomResourceDefinition" {
				keep(object)
			}
			e.objects = append(e.objects, object)
			continue
		}
		standing, _ := before[same].Object["rules"].([]any)
		rules, _ := object.Object["rules"].([]any)
		for _, rule := range rules {
			if !slices.ContainsFunc(standing, func(r any) bool { return reflect.DeepEqual(r, rule) }) {
				e.rules[identity(object)] = append(e.rules[identity(object)], rule)
			}
		}
		for _, rule := range standing {
			if !slices.ContainsFunc(rules, func(r any) bool { return grants(r, rule) }) {
				e.without[identity(object)] = append(e.without[identity(object)], rule)
			}
		}
	}
	return e
}

// grants tells whether a rule is about the same as another one, and allows all that it does.
func grants(one, other any) bool {
	a, b := one.(map[string]any), other.(map[string]any)
	for _, field := range []string{"apiGroups", "resources", "resourceNames"} {
		if !reflect.DeepEqual(a[field], b[field]) {
			return false
		}
	}
	verbs, _ := a["verbs"].([]any)
	needed, _ := b["verbs"].([]any)
	return !slices.ContainsFunc(needed, func(verb any) bool { return !slices.Contains(verbs, verb) })
}

func identity(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// gated wraps a text in what renders it if a gate is on.
func gated(gate string, text []byte) []byte { return when("eq", gate, text) }

// when wraps a text in what renders it if a gate is, by eq or ne, on.
func when(is, gate string, text []byte) []byte {
	return fmt.Appendf(nil, "{{- if %s (include \"podwright.gate\" (list . %q)) \"true\" }}\n%s{{- end }}\n", is, gate, text)
}

// rulesOf returns RBAC rules as they stand at the end of a role.
func rulesOf(rules []any) ([]byte, error) {
	text, err := manager.YAML(&unstructured.Unstructured{Object: map[string]any{"rules": rules}})
	_, text, _ = bytes.Cut(text, []byte("rules:\n"))
	return text, err
}

// textOf returns an object as a template, in which the rules that gates take away are rendered without them.
func textOf(object *unstructured.Unstructured, extras []extra, mend func([]byte) []byte) ([]byte, error) {
	if !slices.ContainsFunc(extras, func(e extra) bool { return len(e.without[identity(object)]) > 0 }) {
		text, err := manager.YAML(object)
		return mend(text), err
	}
	rules, _ := object.Object["rules"].([]any)
	head := object.DeepCopy()
	delete(head.Object, "rules")
	text, err := manager.YAML(head)
	if err != nil {
		return nil, err
	}
	text = append(mend(text), "rules:\n"...)
	for _, rule := range rules {
		one, err := rulesOf([]any{rule})
		if err != nil {
			return nil, err
		}
		one = mend(one)
		for _, e := range extras {
			if slices.ContainsFunc(e.without[identity(object)], func(r any) bool { return reflect.DeepEqual(r, rule) }) {
				one = when("ne", e.gate, one)
			}
		}
		text = append(text, one...)
	}
	return text, nil
}

// withExtras returns the template of a part, in which gates add what is theirs.
func withExtras(objects []*unstructured.Unstructured, extras []extra, mend func([]byte) []byte) ([]byte, error) {
	var text []byte
	for _, object := range objects {
		one, err := textOf(object, extras, mend)
		if err != nil {
			return nil, err
		}
		for _, e := range extras {
			if rules := e.rules[identity(object)]; len(rules) > 0 { // which are the last of a role's fields
				more, err := rulesOf(rules)
				if err != nil {
					return nil, err
				}
				one = append(one, gated(e.gate, more)...)
			}
		}
		if object.GetKind() == "ClusterRole" && object.GetName() == nodeAgentName {
			one = append(one, readsNodes...)
		}
		if kind := object.GetKind(); kind == "ValidatingAdmissionPolicy" || kind == "ValidatingAdmissionPolicyBinding" {
			if strings.HasPrefix(object.GetName(), "podwright-deletion-protection-") {
				one = fmt.Appendf(nil, "{{- if eq (include \"podwright.protection\" .) \"true\" }}\n%s{{- end }}\n", one)
			}
		}
		text = append(text, one...)
	}
	for _, e := range extras {
		if len(e.objects) == 0 {
			continue
		}
		more, err := manager.YAML(e.objects...)
		if err != nil {
			return nil, err
		}
		text = append(text, gated(e.gate, mend(more))...)
	}
	return text, nil
}
