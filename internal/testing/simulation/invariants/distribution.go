// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

type distributing struct {
	*v1alpha1.ResourceDistribution
	state    *State
	template corev1.Secret
	// secrets are all of the name, by namespace.
	secrets map[string]*corev1.Secret
}

func distributingOf(s *State) *distributing {
	of, ok := s.Workload.(*v1alpha1.ResourceDistribution)
	if !ok {
		return nil
	}
	d := &distributing{ResourceDistribution: of, state: s, secrets: map[string]*corev1.Secret{}}
	if json.Unmarshal(of.Spec.Resource.Raw, &d.template) != nil {
		return nil
	}
	for _, object := range s.Further["secrets"] {
		if secret := object.(*corev1.Secret); secret.Name == d.template.Name {
			d.secrets[secret.Namespace] = secret
		}
	}
	return d
}

// selects tells whether a namespace is to have a copy, if it exists.
func (d *distributing) selects(name string) bool {
	return Targeted(d.ResourceDistribution, name, d.state.Namespaces[name])
}

// Targeted tells whether a namespace is to have a copy of what is distributed; nil stands for one that does not exist. (RD-1, RD-2)
func Targeted(d *v1alpha1.ResourceDistribution, name string, namespace *corev1.Namespace) bool {
	targets, listed := &d.Spec.Targets, func(list v1alpha1.ResourceDistributionTargetNamespaces) bool {
		return slices.Contains(list.List, v1alpha1.ResourceDistributionNamespace{Name: name})
	}
	selector := &targets.NamespaceLabelSelector
	switch {
	case listed(targets.ExcludedNamespaces):
		return false
	case targets.AllNamespaces && namespace == nil:
		return false
	case listed(targets.IncludedNamespaces):
		return true
	case namespace == nil || strings.HasPrefix(name, "kube-"):
		return false
	}
	return targets.AllNamespaces || len(selector.MatchLabels)+len(selector.MatchExpressions) > 0 && matches(selector, namespace.Labels)
}

// targets are the namespaces that are to have a copy. (RD-3)
func (d *distributing) targets() (names []string) {
	all := map[string]bool{}
	for name := range d.state.Namespaces {
		all[name] = true
	}
	for _, included := range d.Spec.Targets.IncludedNamespaces.List {
		all[included.Name] = true
	}
	return among(slices.Values(slices.Sorted(maps.Keys(all))), d.selects)
}

func (d *distributing) lives(name string) bool {
	namespace := d.state.Namespaces[name]
	return namespace != nil && namespace.DeletionTimestamp == nil && namespace.Status.Phase != corev1.NamespaceTerminating
}

// owned tells whether a ResourceDistribution of the name controls a Secret. (RD-7)
func owned(secret *corev1.Secret, name string) bool {
	owner := metav1.GetControllerOfNoCopy(secret)
	return owner != nil && owner.Kind == "ResourceDistribution" && owner.Name == name
}

// copied tells what is wrong with a copy, empty for nothing. (RD-6)
func (d *distributing) copied(secret *corev1.Secret) string {
	switch _, labelled := secret.Labels[v1alpha1.ResourceCopyLabel]; {
	case fmt.Sprint(d.template.Data) != fmt.Sprint(secret.Data):
		return "it holds something else"
	case !labelled:
		return "it has no label"
	case !metav1.IsControlledBy(secret, d.ResourceDistribution):
		return "it has another owner"
	}
	return ""
}

// ResourceDistribution judges a write of the controller of a ResourceDistribution of a Secret.
func ResourceDistribution(w *Write) []Violation {
	var v violations
	d := distributingOf(w.asKnown())
	switch {
	case d == nil || d.DeletionTimestamp != nil:
		v.add(Needless, "%s of %s %s for no ResourceDistribution", w.Verb, w.Resource, w.name())
	case w.Resource == "secrets" && w.Subresource == "":
		d.checkSecret(&v, w)
	case w.Resource == "resourcedistributions" && w.Subresource == "status" && w.Verb == "patch":
		checkDistributionStatus(&v, w)
	default:
		v.add(Spec, "%s of %s/%s is none of its business", w.Verb, w.Resource, w.Subresource)
	}
	return v
}

// checkSecret judges a write of a Secret. (RD-6 to RD-9)
func (d *distributing) checkSecret(v *violations, w *Write) {
	before, after := objects[*corev1.Secret](w)
	if before != nil && !owned(before, d.Name) {
		v.add(Ownership, "%s of Secret %s/%s, which is no copy", w.Verb, before.Namespace, before.Name)
		return
	}
	if w.Verb == "delete" {
		v.never(d.selects(before.Namespace), Placement, "the copy in %s is deleted, which is to have one", before.Namespace)
		return
	}
	v.never(!d.selects(after.Namespace), Placement, "%s of a copy in %s, which is to have none", w.Verb, after.Namespace)
	wrong := d.copied(after)
	v.never(after.Name != d.template.Name || wrong != "", Spec, "%s of the copy in %s: %s", w.Verb, after.Namespace, wrong)
	if before == nil {
		return
	}
	for key, value := range before.Labels {
		if _, given := d.template.Labels[key]; !given && after.Labels[key] != value {
			v.add(Ownership, "the copy in %s loses the label %s of another client", after.Namespace, key)
		}
	}
	if known := d.secrets[after.Namespace]; known != nil && known.ResourceVersion == before.ResourceVersion && d.copied(before) == "" {
		v.add(Needless, "the copy in %s is written, and is right", after.Namespace)
	}
}

// conditionTypes are the conditions of every status, in their order. (RD-14)
var conditionTypes = []v1alpha1.ResourceDistributionConditionType{"GetResourceFailed", "CreateResourceFailed", "UpdateResourceFailed", "DeleteResourceFailed", "ConflictOccurred", "NamespaceNotExists"}

// checkDistributionStatus judges a status as far as the caches of the author say what should stand in it. (RD-14)
func checkDistributionStatus(v *violations, w *Write) {
	d := distributingOf(w.asSeen())
	after, ok := w.After.(*v1alpha1.ResourceDistribution)
	if v.wrong(d == nil || !ok || after.UID != d.UID, Ownership, "the status of another one is written") {
		return
	}
	v.never(w.Asked != nil && w.Asked.ResourceVersion == "", Status, "the status is written whatever it has become")
	d.checkStatus(v, &after.Status)
}

func (d *distributing) checkStatus(v *violations, status *v1alpha1.ResourceDistributionStatus) {
	targets := d.targets()
	v.compareGeneration(status.ObservedGeneration, d.Generation)
	failed := map[string]bool{}
	var types []v1alpha1.ResourceDistributionConditionType
	for i, c := range status.Conditions {
		if c.Type == v1alpha1.ResourceDistributionHeldUp {
			v.never(c.Status != "True" || i != len(status.Conditions)-1, Status,
				"HeldUp is %s at place %d of %d", c.Status, i+1, len(status.Conditions))
			continue
		}
		types = append(types, c.Type)
		v.never((c.Status == "True") != (len(c.FailedNamespaces) > 0), Status,
			"%s is %s in %v", c.Type, c.Status, c.FailedNamespaces)
		for _, name := range c.FailedNamespaces {
			if c.Type == "DeleteResourceFailed" {
				continue
			}
			failed[name] = true
			v.never(!slices.Contains(targets, name), Status, "%s in %s, which is to have no copy", c.Type, name)
		}
	}
	v.never(!slices.Equal(types, conditionTypes), Status, "the conditions are %v", types)
	n, bad := int32(len(targets)), int32(len(failed))
	v.compare(status, &v1alpha1.ResourceDistributionStatus{Desired: n, Failed: bad, Succeeded: n - bad})
}

// ResourceDistributionSettled judges what there is when nothing more happens.
func ResourceDistributionSettled(s *State, _ bool) []Violation {
	var v violations
	d := distributingOf(s)
	if d == nil || d.DeletionTimestamp != nil {
		return nil
	}
	d.checkStatus(&v, &d.Status)
	failed := map[string]string{}
	for _, c := range d.Status.Conditions {
		for _, name := range c.FailedNamespaces {
			failed[name] = string(c.Type)
		}
	}
	for _, name := range d.targets() {
		secret, want := d.secrets[name], ""
		switch {
		case !d.lives(name):
			want = "NamespaceNotExists"
		case secret == nil && s.refuses("create", "secrets"):
			want = "CreateResourceFailed"
		case secret == nil:
			v.add(Settled, "there is no copy in %s", name)
		case !owned(secret, d.Name):
			if want = "ConflictOccurred"; s.refuses("create", "secrets") {
				want = failed[name] // it cannot be told that the name is taken
			}
		case d.copied(secret) != "":
			_, labelled := secret.Labels[v1alpha1.ResourceCopyLabel]
			switch {
			case !labelled && s.refuses("create", "secrets"):
				want = "CreateResourceFailed" // which is how such a copy is found
			case s.refuses("update", "secrets"):
				want = "UpdateResourceFailed"
			default:
				v.add(Settled, "the copy in %s: %s", name, d.copied(secret))
			}
		}
		v.never(failed[name] != want, Status, "%q failed in %s, and it should be %q", failed[name], name, want)
	}
	for name, secret := range d.secrets {
		_, labelled := secret.Labels[v1alpha1.ResourceCopyLabel]
		v.never(labelled && d.lives(name) && owned(secret, d.Name) && !d.selects(name) && !s.refuses("delete", "secrets"), Settled,
			"there is a copy in %s", name)
	}
	return v
}
