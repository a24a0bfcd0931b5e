// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// rollout is the update of a workload of four pods, two on each node.
type rollout struct {
	*puller
	kind string
	// patch merges a patch into the workload.
	patch func(string)
	// partition writes the part of its spec that holds back so many pods.
	partition string
}

const replicas = 4

// spread is a template whose pods are spread evenly over the nodes. They make do
// with an image that the node has; workloads default the pull policy to Always.
func spread(image string) corev1.PodTemplateSpec {
	template := cloneSet("web", image, replicas).Spec.Template
	template.Spec.Containers[0].ImagePullPolicy = corev1.PullIfNotPresent
	template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
	template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: template.Labels},
	}}
	return template
}

// predownload asks for the images of an update once the first pod has it.
var predownload = map[string]string{inplacev1alpha1.PreDownloadMinUpdatedReadyPodsAnnotation: "1"}

func rollOutCloneSet(p *puller, image string) *rollout {
	p.Helper()
	set := cloneSet("web", image, replicas)
	set.Annotations, set.Spec.Template = predownload, spread(image)
	set.Spec.UpdateStrategy.MaxUnavailable = new(intstr.FromInt32(2))
	if _, err := workloads.CloneSets(p.Namespace).Create(p.Context(), set, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	return &rollout{puller: p, kind: "CloneSet", partition: `"updateStrategy":{"partition":%d}`, patch: func(patch string) { p.edit("web", patch) }}
}

func rollOutStatefulSet(p *puller, image string) *rollout {
	p.Helper()
	sets, template := workloads.StatefulSets(p.Namespace), spread(image)
	_, err := sets.Create(p.Context(), &workloadsv1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: predownload},
		Spec: workloadsv1beta1.StatefulSetSpec{
			Replicas: new(int32(replicas)), Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template,
			PodManagementPolicy: "Parallel",
			UpdateStrategy: workloadsv1beta1.StatefulSetUpdateStrategy{RollingUpdate: &workloadsv1beta1.RollingUpdateStatefulSetStrategy{
				PodUpdatePolicy: workloadsv1beta1.InPlaceIfPossiblePodUpdateStrategyType, MaxUnavailable: new(intstr.FromInt32(2))}},
		}}, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return &rollout{puller: p, kind: "StatefulSet", partition: `"updateStrategy":{"rollingUpdate":{"partition":%d}}`, patch: func(patch string) {
		p.Helper()
		if _, err := sets.Patch(p.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			p.Fatal(err)
		}
	}}
}

// awaitUpdated waits until that many pods run an image, and all are in service.
func (r *rollout) awaitUpdated(image string, pods int) (updated []*corev1.Pod) {
	r.Helper()
	r.Await(fmt.Sprintf("%d pods run %s", pods, image), func() string {
		var all []string
		updated = nil
		for _, pod := range r.Pods.All() {
			all = append(all, podstate.Describe(pod, false))
			if podstate.InService(pod) && pod.Spec.Containers[0].Image == image {
				updated = append(updated, pod)
			}
		}
		if len(updated) != pods || len(all) != replicas {
			return fmt.Sprintf("%d pods: %s", len(all), strings.Join(all, "\n"))
		}
		return ""
	})
	return updated
}

// The first pod of a rollout pulls its image itself. Then a job pulls it to the other node before
// pods are restarted there. These pods can do without the registry, which refuses from then on.
// When the rollout is over, the job goes.
func TestPredownload(t *testing.T) {
	t.Parallel()
	for name, create := range map[string]func(*puller, string) *rollout{"CloneSet": rollOutCloneSet, "StatefulSet": rollOutStatefulSet} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPuller(t)
			before, _ := p.image("v1", registry.Image{})
			after, _ := p.image("v2", registry.Image{})
			r := create(p, before)
			pods := r.awaitUpdated(before, replicas)
			first, release := r.startRollout(after)
			r.pullAhead(after, 1-nodeOf(first), release)
			behave(t, after, registry.Behaviour{Status: 500})
			r.endRollout(after, pods)
			r.checkPulls(after, 2)
		})
	}
}

// startRollout updates one pod, and returns it. Until it is ready, no job pulls the
// image; from then on, the registry holds every node that asks for it until release is
// called.
func (r *rollout) startRollout(image string) (first *corev1.Pod, release func()) {
	r.Helper()
	answerPod := r.hold(image)
	spec := `{"spec":{` + r.partition + `,"template":{"spec":{"containers":[{"name":"main","image":%q,"imagePullPolicy":"IfNotPresent"}]}}}}`
	r.patch(fmt.Sprintf(spec, replicas-1, image))
	r.awaitHeld(image, 1)
	if jobs := r.jobs.All(); len(jobs) > 0 {
		r.Errorf("job %s was made before the first pod is updated", jobs[0].Name)
	}
	release = r.hold(image)
	answerPod()
	return r.awaitUpdated(image, 1)[0], release
}

// pullAhead waits until the image comes to a node, whose pods go on as they are.
func (r *rollout) pullAhead(image string, to int, release func()) {
	r.Helper()
	r.awaitHeld(image, 1)
	r.awaitState(nodeName(to), image, v1alpha1.ImagePhasePulling)
	jobs := r.jobs.All()
	if len(jobs) != 1 || jobs[0].OwnerReferences[0].Kind != r.kind || r.onNode(to, image) {
		r.Fatalf("want one job of the %s, and the image not yet on %s: %+v", r.kind, nodeName(to), jobs)
	}
	release()
	if job := r.completed(jobs[0].Name); job.Status.Desired != 2 {
		r.Errorf("pulled to %d nodes, want both", job.Status.Desired)
	}
	if !r.onNode(to, image) {
		r.Errorf("the image is not on %s", nodeName(to))
	}
	for _, pod := range r.awaitUpdated(image, 1) {
		if nodeOf(pod) == to {
			r.Errorf("pod %s was updated before its image was there", pod.Name)
		}
	}
}

// endRollout updates all pods, in place. Then there is nothing left to pull.
func (r *rollout) endRollout(image string, before []*corev1.Pod) {
	r.Helper()
	r.patch(fmt.Sprintf(`{"spec":{`+r.partition+`}}`, 0))
	r.awaitUpdated(image, replicas)
	for _, old := range before {
		pod, found := r.Pods.Named(old.Name)
		if !found || pod.UID != old.UID || podstate.ContainerStatus(pod, "main").RestartCount != 1 {
			r.Errorf("pod %s was not restarted once, in place", old.Name)
		}
	}
	r.Await("the jobs are deleted", func() string {
		if jobs := r.jobs.All(); len(jobs) > 0 {
			return strings.Join(testbed.Names(jobs), " ")
		}
		return ""
	})
	r.awaitNoTask(image)
}

// nodeOf returns the number of the node that a pod is on.
func nodeOf(pod *corev1.Pod) int { return slices.Index(bed.Agents, agentOf(pod)) }
