// SPDX-License-Identifier: Apache-2.0

package podpatch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// String lists what the patch asks for, one change a line, whether a pod has it
// already or not. It is "no change" if it asks for nothing. The same patch always
// gives the same text. It is for people: nothing reads it back.
func (p Patch) String() string {
	if p.Empty() {
		return "no change"
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, c := range p.Conditions {
		add("set condition %s", describe(&c))
	}
	if p.Metadata != nil {
		add("merge %s", oneLine(string(p.Metadata)))
	}
	addStrings(add, "label", p.Labels)
	addStrings(add, "annotation", p.Annotations)
	for _, f := range p.AddFinalizers {
		add("add finalizer %s", f)
	}
	if p.RemoveOwner != "" {
		add("remove owner with UID %s", p.RemoveOwner)
	}
	if o := p.AddOwner; o != nil {
		add("add owner %s %s", o.Kind, o.Name)
	}
	for _, container := range slices.Sorted(maps.Keys(p.Images)) {
		add("set image of container %s to %s", container, p.Images[container])
	}
	for _, container := range slices.Sorted(maps.Keys(p.Resources)) {
		add("resize container %s to %s", container, describeResources(p.Resources[container]))
	}
	switch {
	case p.IfUnchanged && p.Throughout:
		add("only if the pod is as it was read, and stays so")
	case p.IfUnchanged:
		add("only if the pod is as it was read")
	}
	return strings.Join(lines, "\n")
}

func addStrings(add func(string, ...any), what string, changes map[string]*string) {
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		if value := changes[key]; value == nil {
			add("remove %s %s", what, key)
		} else {
			add("set %s %s=%s", what, key, oneLine(*value))
		}
	}
}

// describe shows a condition, as in Ready=False (Draining: the node goes).
func describe(c *corev1.PodCondition) string {
	text := string(c.Type) + "=" + string(c.Status)
	var why []string
	for _, s := range []string{c.Reason, c.Message} {
		if s != "" {
			why = append(why, oneLine(s))
		}
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ": ") + ")"
	}
	return text
}

// oneLine returns a value unchanged, or quoted if it would break the line.
func oneLine(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
