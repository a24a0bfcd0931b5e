// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// reader reads stored objects as programs do that know no more of a kind than its JSON.
type reader struct {
	*testbed.Scene
	resource string
	name     string
}

func (r *reader) get() (*unstructured.Unstructured, error) {
	return steady.Dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource(r.resource)).Namespace(r.Namespace).Get(r.Context(), r.name, metav1.GetOptions{})
}

// await waits until what programs read is that.
func (r *reader) await(moment string, want ...string) {
	r.Helper()
	r.AwaitAsking(moment, func() string {
		object, err := r.get()
		if err != nil {
			return err.Error()
		}
		if got := read(object); strings.Join(got, "\n") != strings.Join(want, "\n") {
			return fmt.Sprintf("expected %q, observed %q: %v", want, got, object.Object["status"])
		}
		return ""
	})
}

// patch changes the object as a user does.
func (r *reader) patch(patch string) {
	r.Helper()
	_, err := steady.Dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource(r.resource)).Namespace(r.Namespace).
		Patch(r.Context(), r.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		r.Fatal(err)
	}
}

// deletedWhileHeld deletes the object, which a finalizer holds, and lets it go.
func (r *reader) deletedWhileHeld() {
	r.Helper()
	r.patch(`{"metadata":{"finalizers":["example.com/hold"]}}`)
	defer r.patch(`{"metadata":{"finalizers":null}}`)
	if err := steady.Dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource(r.resource)).Namespace(r.Namespace).
		Delete(r.Context(), r.name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
		r.Fatal(err)
	}
	r.AwaitAsking("kstatus: it is being deleted", func() string {
		object, err := r.get()
		if err != nil {
			return err.Error()
		}
		return strings.TrimPrefix(read(object)[0], "kstatus: Terminating")
	})
}

// read is what each program makes of an object.
func read(object *unstructured.Unstructured) []string {
	result, err := status.Compute(object)
	if err != nil {
		return []string{"kstatus: " + err.Error()}
	}
	r := []string{"kstatus: " + string(result.Status)}
	switch object.GetKind() {
	case "DaemonSet":
		r = append(r, "kubectl: "+rolloutOf(object), "Argo CD: "+healthOfDaemonSet(object))
	case "BroadcastJob":
		r = append(r, "Argo CD: "+healthOfBroadcastJob(object))
	case "AdvancedCronJob":
		r = append(r, "Argo CD: "+healthOfCronJob(object))
	}
	return r
}

// number is a field that a program computes with, which must be there: neither Lua nor jq takes nothing for zero.
func number(object *unstructured.Unstructured, fields ...string) int64 {
	n, found, err := unstructured.NestedInt64(object.Object, fields...)
	if err != nil || !found {
		panic(fmt.Sprintf("%s of %s: found %v, error %v", strings.Join(fields, "."), object.GetName(), found, err))
	}
	return n
}

func text(object *unstructured.Unstructured, fields ...string) string {
	s, _, err := unstructured.NestedString(object.Object, fields...)
	if err != nil {
		panic(err)
	}
	return s
}

// observed tells whether the status is one of the present spec. Before that readers read nothing else.
func observed(object *unstructured.Unstructured) bool {
	n, found, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return err == nil && found && n == object.GetGeneration()
}

// rolloutOf reads a DaemonSet as "kubectl rollout status" does those of Kubernetes.
func rolloutOf(object *unstructured.Unstructured) string {
	desired := func() int64 { return number(object, "status", "desiredNumberScheduled") }
	switch {
	case !observed(object):
		return "waits for the controller"
	case number(object, "status", "updatedNumberScheduled") < desired():
		return "waits for updates"
	case number(object, "status", "numberAvailable") < desired():
		return "waits for available pods"
	}
	return "rolled out"
}

// healthOfDaemonSet reads the fields that Argo CD's health check of Advanced DaemonSets reads. These are generations, paused,
// partition, and the numbers of nodes desired, updated, available and unavailable.
func healthOfDaemonSet(object *unstructured.Unstructured) string {
	if !observed(object) {
		return "Progressing"
	}
	rolling, found, err := unstructured.NestedMap(object.Object, "spec", "updateStrategy", "rollingUpdate")
	if err != nil || !found {
		panic(fmt.Sprintf("spec.updateStrategy.rollingUpdate, which is read without being asked for: found %v, error %v", found, err))
	}
	desired, updated := number(object, "status", "desiredNumberScheduled"), number(object, "status", "updatedNumberScheduled")
	available, unavailable := number(object, "status", "numberAvailable"), number(object, "status", "numberUnavailable")
	partition, _ := rolling["partition"].(int64)
	switch {
	case rolling["paused"] == true:
		return "Suspended"
	case partition != 0 && updated >= desired-partition:
		return "Suspended"
	case updated == desired && available == desired:
		return "Healthy"
	case updated == desired && unavailable == desired:
		return "Degraded"
	}
	return "Progressing"
}

// healthOfBroadcastJob reads phase and counters.
func healthOfBroadcastJob(object *unstructured.Unstructured) string {
	phase := text(object, "status", "phase")
	if phase == "" {
		return "Progressing"
	}
	switch {
	case phase == "completed" && number(object, "status", "desired") == number(object, "status", "succeeded"):
		return "Healthy"
	case phase == "running" && number(object, "status", "active") != 0:
		return "Progressing"
	case phase == "failed" && number(object, "status", "failed") != 0:
		return "Degraded"
	case phase == "paused":
		return "Suspended"
	}
	return "unknown: " + phase
}

// healthOfCronJob reads the active jobs, lastScheduleTime and paused.
func healthOfCronJob(object *unstructured.Unstructured) string {
	active, _, err := unstructured.NestedSlice(object.Object, "status", "active")
	if err != nil {
		panic(err)
	}
	last, paused := text(object, "status", "lastScheduleTime"), object.Object["spec"].(map[string]any)["paused"]
	switch {
	case last == "" && paused == true:
		return "Suspended"
	case len(active) > 0:
		return "Progressing"
	case last == "":
		return "Degraded"
	}
	return "Healthy"
}

// What kstatus (Flux, Helm), kubectl and Argo CD read of a DaemonSet. kstatus knows no counters of kinds that are not
// Kubernetes' own. It goes by a condition, which does not wait for what the partition holds back. (DS-17, DS-20)
func TestReadersOfDaemonSets(t *testing.T) {
	t.Parallel()
	s := newDaemonSetFixture(t, "node-0", "node-1")
	s.create(s.daemonSet("d", func(set *v1alpha1.DaemonSet) {
		set.Spec.UpdateStrategy.RollingUpdate.Partition = new(intstr.FromInt32(0))
	}))
	r := &reader{s.Scene, "daemonsets", "d"}
	r.await("it runs", "kstatus: Current", "kubectl: rolled out", "Argo CD: Healthy")
	r.patch(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"shop:bad"}]}}}}`)
	r.await("a rollout that is stuck", "kstatus: InProgress", "kubectl: waits for updates", "Argo CD: Progressing")
	r.patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}}}}`)
	r.await("it is paused", "kstatus: InProgress", "kubectl: waits for updates", "Argo CD: Suspended")
	r.patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":false,"partition":1}},"template":{"spec":{"containers":[{"name":"main","image":"shop:v2"}]}}}}`)
	r.await("one node is held back", "kstatus: Current", "kubectl: waits for updates", "Argo CD: Suspended")
	r.patch(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
	r.await("the rollout is complete", "kstatus: Current", "kubectl: rolled out", "Argo CD: Healthy")
	r.deletedWhileHeld()
}

// Of a BroadcastJob: zeros are written, and what has failed is told by phase and counters. (BJ-3)
func TestReadersOfBroadcastJobs(t *testing.T) {
	t.Parallel()
	s := newBroadcastJobFixture(t)
	s.labelNodes("node-0", "node-1")
	r := &reader{s.Scene, "broadcastjobs", "good"}
	s.create(s.job("good"))
	r.await("it runs", "kstatus: Current", "Argo CD: Progressing")
	r.patch(`{"spec":{"paused":true}}`)
	r.await("it is paused", "kstatus: Current", "Argo CD: Suspended")
	r.patch(`{"spec":{"paused":false}}`)
	for _, node := range []string{"node-0", "node-1"} {
		s.SetPhase(s.awaitPodOn(node), corev1.PodSucceeded)
	}
	r.await("it is complete", "kstatus: Current", "Argo CD: Healthy")
	r.deletedWhileHeld()
	r = &reader{s.Scene, "broadcastjobs", "bad"}
	s.create(s.job("bad", func(spec *v1alpha1.BroadcastJobSpec) {
		spec.FailurePolicy.Type, spec.Template.Spec.Containers[0].Image = v1alpha1.FailurePolicyTypeFailFast, "task:fail"
	}))
	r.await("it has failed", "kstatus: Failed", "Argo CD: Degraded")
}

// Of an AdvancedCronJob.
func TestReadersOfAdvancedCronJobs(t *testing.T) {
	t.Parallel()
	s := steady.NewScene(t, nil)
	cronJob := newCronJob("@every 2s")
	cronJob.Spec.Paused = new(true)
	if _, err := steady.workloads.AdvancedCronJobs(s.Namespace).Create(t.Context(), cronJob, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r := &reader{s, "advancedcronjobs", "web"}
	r.await("it is paused from the beginning", "kstatus: Current", "Argo CD: Suspended")
	r.patch(`{"spec":{"paused":false,"concurrencyPolicy":"Forbid"}}`)
	r.await("it ticks", "kstatus: Current", "Argo CD: Healthy")
	r.deletedWhileHeld()
}
