// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// outcome is all that there is at one moment of a play, without what differs between any two namespaces: UIDs, times, nodes
// and hashes. A revision is known by its number. What belongs to something that is gone is left to the garbage collector, and
// left out.
type outcome struct {
	At        string
	Status    *setStatus
	Pods      []pod
	Claims    []claim
	Revisions []revisionOutcome
}

type setStatus struct {
	Replicas, Ready, Available, Current, Updated int32
	CurrentRevision, UpdateRevision              int64
	Conditions                                   []appsv1.StatefulSetCondition
}

type pod struct {
	Name, Hostname, Subdomain string
	Labels, Annotations       map[string]string
	Finalizers, Owners        []string
	Spec                      corev1.PodSpec
}

type claim struct {
	Name                string
	Nth                 int // how many claims have had this name
	Labels, Annotations map[string]string
	Owners, Finalizers  []string
	Phase               corev1.PersistentVolumeClaimPhase
	Spec                corev1.PersistentVolumeClaimSpec
}

type revisionOutcome struct {
	Number              int64
	Labels, Annotations map[string]string
	Owners              []string
	Template            corev1.PodTemplateSpec
}

// outcome returns what there is now.
func (p *play) outcome(at string) outcome {
	p.Helper()
	o := outcome{At: at}
	if _, status, found := p.set(); found {
		o.Status = &setStatus{
			Replicas: status.Replicas, Ready: status.ReadyReplicas, Available: status.AvailableReplicas,
			Current: status.CurrentReplicas, Updated: status.UpdatedReplicas,
			CurrentRevision: p.numberOf(status.CurrentRevision), UpdateRevision: p.numberOf(status.UpdateRevision),
			Conditions: slices.DeleteFunc(slices.Clone(status.Conditions), func(c appsv1.StatefulSetCondition) bool {
				return c.Type == v1beta1.StatefulSetConditionReconciling // (STS-S3) Kubernetes has no such condition: kstatus knows its counters
			}),
		}
	}
	for _, found := range p.Pods.All() {
		if p.stays(found) {
			o.Pods = append(o.Pods, p.podNow(found))
		}
	}
	for _, found := range p.Claims.All() {
		if p.stays(found) {
			o.Claims = append(o.Claims, p.claimNow(found))
		}
	}
	for _, found := range p.Revisions.All() {
		if p.stays(found) {
			o.Revisions = append(o.Revisions, p.revisionNow(found))
		}
	}
	slices.SortFunc(o.Pods, func(a, b pod) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(o.Claims, func(a, b claim) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(o.Revisions, func(a, b revisionOutcome) int { return int(a.Number - b.Number) })
	return o
}

func (p *play) podNow(found *corev1.Pod) pod {
	spec := withoutHash(found)
	spec.NodeName = ""
	// The order of volumes means nothing, and that of claims among them is random in Kubernetes.
	slices.SortFunc(spec.Volumes, func(a, b corev1.Volume) int { return strings.Compare(a.Name, b.Name) })
	labels := maps.Clone(found.Labels)
	maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasPrefix(key, "topology.kubernetes.io/") }) // those of the node
	if name, labelled := labels[appsv1.ControllerRevisionHashLabelKey]; labelled {
		labels[appsv1.ControllerRevisionHashLabelKey] = fmt.Sprintf("revision %d", p.numberOf(name))
	}
	return pod{
		Name: found.Name, Hostname: spec.Hostname, Subdomain: spec.Subdomain, Labels: labels, Annotations: found.Annotations,
		Finalizers: found.Finalizers, Owners: p.owners(found), Spec: *spec,
	}
}

// withoutHash returns the spec of a pod. The API server copies the name of its revision to where matchLabelKeys asks for it.
func withoutHash(found *corev1.Pod) *corev1.PodSpec {
	spec := found.Spec.DeepCopy()
	for _, constraint := range spec.TopologySpreadConstraints {
		for _, expression := range constraint.LabelSelector.MatchExpressions {
			if i := slices.Index(expression.Values, found.Labels[appsv1.ControllerRevisionHashLabelKey]); i >= 0 {
				expression.Values[i] = "that of the revision"
			}
		}
	}
	return spec
}

func (p *play) claimNow(found *corev1.PersistentVolumeClaim) claim {
	if known := p.claims[found.Name]; !slices.Contains(known, found.UID) {
		p.claims[found.Name] = append(known, found.UID)
	}
	spec := found.Spec.DeepCopy()
	spec.VolumeName = ""
	annotations := maps.Clone(found.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.Contains(key, "kubernetes.io/") }) // those of the binder
	return claim{
		Name: found.Name, Nth: len(p.claims[found.Name]), Labels: found.Labels, Annotations: annotations,
		Owners: p.owners(found), Finalizers: found.Finalizers, Phase: found.Status.Phase, Spec: *spec,
	}
}

func (p *play) revisionNow(found *appsv1.ControllerRevision) revisionOutcome {
	var data struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(found.Data.Raw, &data); err != nil {
		p.Errorf("the data of revision %s: %v", found.Name, err)
	}
	labels := maps.Clone(found.Labels)
	if name := found.Name; labels["controller.kubernetes.io/hash"] == strings.TrimPrefix(name, "web-") {
		labels["controller.kubernetes.io/hash"] = "that of the name"
	}
	return revisionOutcome{Number: found.Revision, Labels: labels, Annotations: found.Annotations, Owners: p.owners(found), Template: data.Spec.Template}
}

// numberOf returns the number of a revision, 0 if there is none of the name.
func (p *play) numberOf(name string) int64 {
	if found, exists := p.Revisions.Named(name); exists {
		return found.Revision
	}
	return 0
}

// owners describes the owners of an object: what they are, and as which they own.
func (p *play) owners(object metav1.Object) []string {
	var owners []string
	for _, ref := range object.GetOwnerReferences() {
		owner := fmt.Sprintf("%s %s %s", ref.APIVersion, ref.Kind, ref.Name)
		if ref.APIVersion == p.side.group.String() {
			owner = fmt.Sprintf("%s %s", ref.Kind, ref.Name)
		}
		if ref.Controller != nil && *ref.Controller {
			owner += ", controller"
		}
		if ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion {
			owner += ", blocks its deletion"
		}
		owners = append(owners, owner)
	}
	slices.Sort(owners)
	return owners
}

// stays tells whether an object has no owner, or one that is not gone.
func (p *play) stays(object metav1.Object) bool {
	lives := func(ref metav1.OwnerReference) bool {
		set, found := p.sets.Named("web")
		return found && set.GetUID() == ref.UID ||
			slices.ContainsFunc(p.Pods.All(), func(pod *corev1.Pod) bool { return pod.UID == ref.UID })
	}
	return len(object.GetOwnerReferences()) == 0 || slices.ContainsFunc(object.GetOwnerReferences(), lives)
}
