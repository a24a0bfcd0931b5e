// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
)

// Input is what the decision about a workload depends on. Nothing in it is
// changed, and nothing of it is part of the decision.
type Input struct {
	// workload is read for its name, namespace, UID and annotations; kind is
	// its kind. It controls the jobs.
	workload metav1.Object
	kind     schema.GroupVersionKind
	// selector selects the workload's pods.
	selector *metav1.LabelSelector

	// to is the revision that pods are updated to, From those that they come from:
	// one, or with PodPerNode any number. If none is another, there is no update.
	to   *appsv1.ControllerRevision
	From []*appsv1.ControllerRevision

	// inPlace tells whether the update strategy updates pods in place.
	inPlace bool
	// options tells which changes are made in place.
	options inplace.CalculateOptions
	// PodPerNode is for a workload that runs one pod on every node (a
	// DaemonSet). It pulls images ahead of any kind of update and with any
	// number of pods, and does not wait for updated pods.
	PodPerNode bool

	// Replicas is the number of pods wanted, Partition how many of them stay at
	// their revision.
	Replicas, Partition int32
	// updatedReady counts the pods that are ready at the revision to. It is called
	// if the workload asks for some of them first; nil counts none.
	updatedReady func() int32
	// MaxUnavailable is how many pods may be unavailable at a time: a number,
	// or a percentage of the replicas, rounded down here.
	MaxUnavailable intstr.IntOrString

	// SandboxConfig gives the jobs labels and annotations of the pods for their sandbox. (IP-44)
	SandboxConfig bool

	// Jobs names the jobs that the workload controls.
	Jobs []string
}

// minReplicas is the largest number of replicas for which it is not worth while.
const minReplicas = 3

// Plan decides about a workload, whose pods these are, to the update revision of the
// plan. The Input has From, PodPerNode, the numbers and Jobs; what all kinds say in
// the same way is filled in. (IP-29 to IP-32)
func Plan[P interface{ UpdatedReady() bool }](plan *rollout.Plan, w *podplan.Owner, pods []P, in Input) {
	in.workload, in.kind, in.selector = w.Object, w.Kind, w.Selector
	in.to, in.inPlace = plan.Revisions.Update, w.InPlace.Allowed
	in.options = w.InPlace.Options()
	in.updatedReady = func() (n int32) {
		for _, pod := range pods {
			if pod.UpdatedReady() {
				n++
			}
		}
		return n
	}
	plan.PreDownload = decide(&in)
}

// decide decides about a workload. (IP-29 to IP-32)
func decide(in *Input) rollout.PreDownload {
	if !in.updating() {
		return rollout.PreDownload{Delete: in.Jobs}
	}
	if decided(in.to) {
		return rollout.PreDownload{}
	}
	if reason := in.wait(); reason != "" {
		return rollout.PreDownload{Reason: reason}
	}
	if reason := in.needless(); reason != "" {
		return rollout.PreDownload{Label: inplacev1alpha1.PreDownloadIgnoredLabel, Reason: reason}
	}
	jobs, err := in.jobs()
	if err != nil {
		return rollout.PreDownload{Label: inplacev1alpha1.PreDownloadIgnoredLabel, Reason: err.Error()}
	}
	return rollout.PreDownload{Create: jobs, Label: inplacev1alpha1.PreDownloadCreatedLabel}
}

// updating tells whether pods are to be updated from one revision to another.
func (in *Input) updating() bool {
	return slices.ContainsFunc(in.From, func(from *appsv1.ControllerRevision) bool { return from.Name != in.to.Name })
}

// decided tells whether a revision carries the outcome already. (IP-29)
func decided(r *appsv1.ControllerRevision) bool {
	_, created := r.Labels[inplacev1alpha1.PreDownloadCreatedLabel]
	_, ignored := r.Labels[inplacev1alpha1.PreDownloadIgnoredLabel]
	return created || ignored
}

// wait says which updated pods have to be ready first. An annotation that
// cannot be read counts as missing. (IP-31)
func (in *Input) wait() string {
	const key = inplacev1alpha1.PreDownloadMinUpdatedReadyPodsAnnotation
	value, given := in.workload.GetAnnotations()[key]
	if !given || in.PodPerNode {
		return ""
	}
	need, err := rollout.Count(key, intstr.Parse(value), in.Replicas, rollout.RoundUp)
	if err != nil {
		return ""
	}
	ready := int32(0)
	if in.updatedReady != nil {
		ready = in.updatedReady()
	}
	if ready >= need {
		return ""
	}
	return fmt.Sprintf("annotation %s: images are pulled ahead once %d pods (%s) are updated and ready; there are %d",
		key, need, value, ready)
}

// needless says why pulling images ahead would not help. (IP-29)
func (in *Input) needless() string {
	if !in.PodPerNode {
		if !in.inPlace {
			return "the update strategy recreates pods instead of updating them in place"
		}
		if in.Replicas <= minReplicas {
			return fmt.Sprintf("there are only %d replicas, and images are pulled ahead for more than %d", in.Replicas, minReplicas)
		}
	}
	atOnce, err := rollout.Count("maxUnavailable", in.MaxUnavailable, in.Replicas, rollout.RoundDown)
	if err == nil && in.Partition == 0 && atOnce >= in.Replicas {
		return fmt.Sprintf("all %d pods are updated at once: partition is 0 and maxUnavailable is %s",
			in.Replicas, in.MaxUnavailable.String())
	}
	if in.PodPerNode {
		return ""
	}
	return in.obstacle()
}

// obstacle says why the pods cannot be updated in place; empty if they can.
func (in *Input) obstacle() string {
	for _, from := range in.From {
		update, obstacles, err := inplace.Calculate(from, in.to, in.options)
		switch {
		case err != nil:
			return "whether the pods can be updated in place is unknown: " + err.Error()
		case update == nil:
			return "the pods cannot be updated in place: " + obstacles[0].String()
		}
	}
	return ""
}
