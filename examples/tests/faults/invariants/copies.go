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
	"k8s.io/apimachinery/pkg/types"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

const (
	// Theirs is in what users write into copies.
	Theirs = "theirs"
	// TheirsAnnotation is on copies that a user deletes next.
	TheirsAnnotation = "example.com/theirs"
)

// distribution is a ResourceDistribution of a Secret or a ConfigMap.
type distribution struct {
	kind     string                                       // of what is distributed
	counting []*distributionv1alpha1.ResourceDistribution // the versions whose spec counts; the last one is in force
}

// namespace is a namespace that stays.
type namespace struct {
	counting []map[string]string // the labels that count; the last ones are in force
}

// takeDistribution takes note of a version of a ResourceDistribution.
func (j *Judge) takeDistribution(object *distributionv1alpha1.ResourceDistribution) {
	d := j.distributions[object.UID]
	if d == nil {
		d = &distribution{kind: kindOf(object)}
		j.distributions[object.UID] = d
	}
	d.counting = countVersion(d.counting, object)
}

// takeNamespace takes note of the labels of a namespace.
func (j *Judge) takeNamespace(object *corev1.Namespace) {
	n := j.namespaces[object.Name]
	if n == nil {
		n = &namespace{}
		j.namespaces[object.Name] = n
	}
	if len(n.counting) == 0 || !maps.Equal(latest(n.counting), object.Labels) {
		n.counting = append(n.counting, object.Labels)
	}
}

// judgeCopy judges what has become of a copy. It is created in a namespace in which a spec that counts wants it, and gets what such
// a spec has for it. If all specs that count want it, users alone delete it.
func (j *Judge) judgeCopy(v *verdict, c Change) {
	object := c.latest()
	d := j.distributionOf(object)
	if d == nil {
		return
	}
	sometimes, always := j.wants(d, object.GetNamespace())
	switch {
	case c.Old == nil:
		v.expect(sometimes, invariants.Placement, "created in a namespace in which no spec wants it")
		v.expect(d.asks(object), invariants.Partition, "created with %s, which no spec has", content(object))
	case v.gap: // another writer may have written in between
	case c.New == nil:
		v.expect(!always || theirs(c.Old), invariants.Needless, "deleted from a namespace in which all specs want it")
	case theirs(c.New) && !theirs(c.Old) || strings.Contains(content(c.New), Theirs): // by a user
	default:
		v.expect(content(c.Old) != content(c.New), invariants.Needless, "written, and it stays as it was")
		v.expect(d.asks(object), invariants.Partition, "gets %s, which no spec has", content(object))
	}
}

// distributionOf returns the ResourceDistribution of a copy; nil for what is none.
func (j *Judge) distributionOf(object metav1.Object) *distribution {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		return j.distributions[owner.UID]
	}
	return nil
}

// wants tells whether one or all of the specs that count want a copy in a namespace.
func (j *Judge) wants(d *distribution, name string) (sometimes, always bool) {
	n := j.namespaces[name]
	if n == nil {
		return false, false
	}
	always = true
	for _, version := range d.counting {
		for _, labels := range n.counting {
			wanted := invariants.Targeted(version, name, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
			sometimes, always = sometimes || wanted, always && wanted
		}
	}
	return sometimes, always
}

// asks tells whether a spec that counts has the content of a copy.
func (d *distribution) asks(object metav1.Object) bool {
	return slices.ContainsFunc(d.counting, func(version *distributionv1alpha1.ResourceDistribution) bool {
		return contentOf(version) == content(object)
	})
}

// content is what is in a Secret or a ConfigMap.
func content(object metav1.Object) string {
	switch object := object.(type) {
	case *corev1.Secret:
		return fmt.Sprintf("Secret %s", object.Data)
	case *corev1.ConfigMap:
		return fmt.Sprintf("ConfigMap %s", object.Data)
	}
	return ""
}

// kindOf is the kind of what a ResourceDistribution distributes, which never changes.
func kindOf(d *distributionv1alpha1.ResourceDistribution) string {
	var kind metav1.TypeMeta
	_ = json.Unmarshal(d.Spec.Resource.Raw, &kind) // which the API server has stored
	return kind.Kind
}

// contentOf is what a ResourceDistribution distributes.
func contentOf(d *distributionv1alpha1.ResourceDistribution) string {
	object := map[string]metav1.Object{"Secret": &corev1.Secret{}, "ConfigMap": &corev1.ConfigMap{}}[kindOf(d)]
	if err := json.Unmarshal(d.Spec.Resource.Raw, object); err != nil {
		return err.Error()
	}
	return content(object)
}

func theirs(object metav1.Object) bool { return object.GetAnnotations()[TheirsAnnotation] != "" }

// judgeDistributionsSettled: exactly the targets have a copy, of what the template has now, and the status says so. A
// target has none if the name is taken in it.
func (j *Judge) judgeDistributionsSettled() (wrong []invariants.Violation) {
	for _, n := range j.namespaces {
		n.counting = n.counting[len(n.counting)-1:]
	}
	for uid, d := range j.distributions {
		version := latest(d.counting)
		d.counting = d.counting[len(d.counting)-1:]
		v := &verdict{about: "ResourceDistribution " + version.Name}
		var desired, taken []string
		for _, name := range slices.Sorted(maps.Keys(j.namespaces)) {
			wanted, _ := j.wants(d, name)
			mine, other := j.copyIn(uid, d, name)
			if wanted {
				desired = append(desired, name)
			}
			switch {
			case wanted && other:
				taken = append(taken, name)
				v.expect(mine == nil, invariants.Identity, "two objects of a name in %s", name)
			case wanted:
				v.expect(mine != nil && d.asks(mine), invariants.Settled, "namespace %s has %+v, and should have %s", name, mine, contentOf(version))
			default:
				v.expect(mine == nil, invariants.Settled, "namespace %s has %+v, which no spec wants", name, mine)
			}
		}
		st := &version.Status
		v.expect(st.ObservedGeneration == version.Generation && int(st.Desired) == len(desired) && int(st.Failed) == len(taken) && st.Succeeded == st.Desired-st.Failed,
			invariants.Status, "generation %d, %d namespaces, the name is taken in %v, status %+v", version.Generation, len(desired), taken, *st)
		for _, condition := range st.Conditions {
			var failed []string
			if condition.Type == distributionv1alpha1.ResourceDistributionConflictOccurred {
				failed = taken
			}
			v.expect(slices.Equal(condition.FailedNamespaces, failed) && (condition.Status == "True") == (len(failed) > 0), invariants.Status, "the name is taken in %v, condition %+v", taken, condition)
		}
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}

// copyIn returns the copy in a namespace, nil for none, and whether something else has its kind there.
func (j *Judge) copyIn(uid types.UID, d *distribution, name string) (mine metav1.Object, other bool) {
	for _, object := range j.copies {
		if _, secret := object.(*corev1.Secret); object.GetNamespace() != name || secret != (d.kind == "Secret") {
			continue
		}
		if owner := metav1.GetControllerOfNoCopy(object); owner != nil && owner.UID == uid {
			mine = object
		} else {
			other = true
		}
	}
	return mine, other
}
