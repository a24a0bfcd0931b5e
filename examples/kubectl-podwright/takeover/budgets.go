// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
)

// spreads says what becomes of how pods are spread. It finds several of one workload, patches that take pods away from their workload,
// filters that OpenKruise does not heed, and counts that go.
func (c *check) spreads() {
	for _, spread := range c.Objects[spreads] {
		if first := c.firstOf(spread); first != spread {
			c.stuck(title(spread), "WS-22", fmt.Sprintf("It names the same workload as %s, which comes first. With OpenKruise each takes the pods of the other, without end.", title(first)),
				"Delete one of both: with podwright this one has no pods.")
		}
		for _, subset := range objects(spread.Object, "spec", "subsets") {
			if label := c.takesAway(spread, subset); label != "" {
				c.stuck(title(spread), "WS-21.1", fmt.Sprintf("The patch of its subset %s changes the label %s, by which its workload knows its pods. With OpenKruise it creates pods without end.", text(subset, "name"), label),
					"Take the label out of the patch: podwright refuses the pods of this subset.")
			}
		}
		if has(spread.Object, "spec", "targetFilter") && !has(spread.Object, "spec", "targetFilter", "selector") && !before(c.release, "1.8") {
			c.answer(title(spread), "WS-33", "Its targetFilter has no selector: OpenKruise spreads no new pod, and podwright all of them.", "Write a selector, or decide that it may change.")
		}
		if versions, _, _ := unstructured.NestedMap(spread.Object, "status", "versionedSubsetStatuses"); len(versions) > 0 {
			c.happens(title(spread), "WS-20", "podwright empties its versionedSubsetStatuses: it tells versions by the pods.")
		}
	}
}

// firstOf is the one that has the workload, of those that name the same one. It was created first, or is the first by
// name. One that is being deleted comes last.
func (c *check) firstOf(spread *unstructured.Unstructured) *unstructured.Unstructured {
	first := spread
	for _, other := range c.Objects[spreads] {
		if target := targetOf(spread); target == "" || targetOf(other) != target {
			continue
		}
		goes, firstGoes := other.GetDeletionTimestamp() != nil, first.GetDeletionTimestamp() != nil
		created, before := other.GetCreationTimestamp(), first.GetCreationTimestamp()
		if order := cmp.Or(created.Compare(before.Time), strings.Compare(other.GetName(), first.GetName())); goes != firstGoes && firstGoes || goes == firstGoes && order < 0 {
			first = other
		}
	}
	return first
}

// targetOf tells the workload that an object names from all others, whatever the version; "" if it names none.
func targetOf(o *unstructured.Unstructured) string {
	kind, name := text(o.Object, "spec", "targetRef", "kind"), text(o.Object, "spec", "targetRef", "name")
	if kind == "" || name == "" {
		return ""
	}
	return strings.Join([]string{o.GetNamespace(), groupOf(text(o.Object, "spec", "targetRef", "apiVersion")), kind, name}, "/")
}

// takesAway returns a label that the patch of a subset changes, and by which the workload knows its pods; "" if there is none. Of
// workloads of Kubernetes it is not known what they select by.
func (c *check) takesAway(spread *unstructured.Unstructured, subset map[string]any) string {
	labels, _, _ := unstructured.NestedMap(subset, "patch", "metadata", "labels")
	selected := map[string]any{}
	for _, workload := range c.Objects[text(spread.Object, "spec", "targetRef", "kind")] {
		if workload.GetNamespace() == spread.GetNamespace() && workload.GetName() == text(spread.Object, "spec", "targetRef", "name") &&
			workload.GroupVersionKind().Group == groupOf(text(spread.Object, "spec", "targetRef", "apiVersion")) {
			selected, _, _ = unstructured.NestedMap(workload.Object, "spec", "selector", "matchLabels")
		}
	}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		wanted, selects := selected[label]
		if selects && wanted != labels[label] || slices.Contains(knowingLabels, label) {
			return label
		}
	}
	return ""
}

// groupOf is the group of an apiVersion; empty if it cannot be read.
func groupOf(apiVersion string) string {
	version, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return ""
	}
	return version.Group
}

// budgets says which budgets count otherwise with podwright, and which protect nothing.
func (c *check) budgets() {
	for _, budget := range c.Objects[budgets] {
		c.annotatedTotal(budget)
		kind := text(budget.Object, "spec", "targetRef", "kind")
		total, counted := number(budget.Object, "status", "totalReplicas")
		wanted, _ := number(budget.Object, "status", "desiredAvailable")
		switch {
		case kind != "" && !slices.Contains(knownTargets, kind):
			c.answer(title(budget), "PUB-23", "Its target is a "+kind+", which podwright reads only if it is told. Else it is not known how many pods are wanted, and no available one may go.",
				giveTargets)
		case !counted:
			c.happens(title(budget), "PUB-14.6", "Its status has not been written. podwright lets none of its pods go until it is; OpenKruise lets all of them go.")
		case total > 0 && wanted == 0:
			c.happens(title(budget), "PUB-14.7", fmt.Sprintf("It protects nothing, with podwright as with OpenKruise: none of %s has to be available.", count(int(total), "pod")))
		}
	}
}

// annotatedTotal says if the annotation that has the total of a budget means something else to podwright. OpenKruise heeds it always from 1.8 on,
// and before that if its workloads want nothing.
func (c *check) annotatedTotal(budget *unstructured.Unstructured) {
	const key = availabilityv1alpha1.PubProtectTotalReplicasAnnotation
	said := budget.GetAnnotations()[key]
	if said == "" {
		return
	}
	theirs, ours := !before(c.release, "1.8"), c.Gates.Enabled(totalAnnotated)
	switch n, err := strconv.ParseInt(said, 10, 32); {
	case err != nil && theirs:
		c.answer(title(budget), "PUB-43", "Its annotation "+key+" is no number: OpenKruise takes it for 0 pods, and protects nothing. podwright passes it over, and protects its pods.", "Write a number, or take it away.")
	case err == nil && n < 0:
		c.answer(title(budget), "PUB-41", "Its annotation "+key+" is below 0: nothing is protected, and podwright refuses it when it is written again.", "Write a number of pods, or take it away.")
	case err == nil && theirs != ours:
		always := map[bool]string{true: "whatever its workloads want", false: "only if its workloads want nothing"}
		c.answer(title(budget), "PUB-43", fmt.Sprintf("Its total is the %d of its annotation %s: with OpenKruise %s, with podwright %s.", n, key, always[theirs], always[ours]),
			fmt.Sprintf("Give podwright's manager --feature-gates=%s=%t, or decide that it may change.", totalAnnotated, theirs))
	}
}
