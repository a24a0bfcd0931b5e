// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/scenario"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// situations are CloneSets in the midst of something, so that between them the
// planner reads all that it ever reads.
func situations(t *testing.T) map[string]*setScenario {
	all := map[string]*setScenario{}
	situation := func(name, setup, change string, then func(*setScenario)) {
		w := newScenario(t)
		w.set.Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
		w.set.Spec.Template.Labels["tier"] = "front"
		w.set.Spec.Template.Spec.Containers = []corev1.Container{
			{Name: "main", Image: "nginx:1", Env: []corev1.EnvVar{launchPriority("10"), {Name: "TIER", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['tier']"}}}}},
			{Name: "side", Image: "side:1", Env: []corev1.EnvVar{launchPriority("5")}},
		}
		w.Spec(strings.Fields("replicas=4 type=InPlaceIfPossible maxUnavailable=2 " + setup)...)
		for range 4 {
			w.step()
		}
		w.Spec(strings.Fields(change)...)
		if then != nil {
			then(w)
		}
		all[name] = w
	}
	situation("settled", "", "", nil)
	situation("an update begins", "", "image=nginx:2", nil)
	situation("an update is under way", "", "image=nginx:2", func(w *setScenario) { w.apply(NewPlan(w.snapshot())) })
	situation("an update is taken note of", "", "image=nginx:2", (*setScenario).step)
	situation("recreation", "", "type=ReCreate image=nginx:2", nil)
	situation("InPlaceOnly", "", "type=InPlaceOnly env=x", nil)
	situation("OnDelete", "", "type=OnDelete image=nginx:2", nil)
	situation("a progress deadline", "deadline=60000", "image=nginx:2", (*setScenario).step)
	situation("a progress deadline that is exceeded", "deadline=600", "image=nginx:bad", func(w *setScenario) { w.step(); w.step(); w.Now = w.Now.Add(time.Hour) })
	situation("surge", "maxUnavailable=0 maxSurge=1", "image=nginx:2", (*setScenario).step)
	situation("scale-in", "", "replicas=3", nil)
	situation("minReadySeconds", "minReadySeconds=30", "replicas=3", nil)
	situation("specified deletion", "maxUnavailable=1", "delete=p1,p2", nil)
	situation("claims", "claims=data", "disablePVCReuse=true", nil)
	situation("scale-out with claims", "claims=data", "replicas=6", nil)
	situation("a claim whose pod is gone", "claims=data", "", func(w *setScenario) { w.Remove(w.Pods[0].Name) })
	situation("a claim that is not to be used again", "claims=data", "disablePVCReuse=true", func(w *setScenario) { w.Remove(w.Pods[0].Name) })
	situation("a claim that a pod waits for", "claims=data", "replicas=5", func(w *setScenario) {
		w.apply(NewPlan(w.snapshot()))
		w.RemoveClaim("data-" + w.Pods[len(w.Pods)-1].Name)
	})
	situation("a rollback", "", "image=nginx:2", func(w *setScenario) {
		w.step()
		w.Spec("image=nginx:1")
	})
	situation("a history that is too long", "historyLimit=0", "image=nginx:2", func(w *setScenario) {
		w.step()
		w.step()
	})
	situation("hooks", "preDelete=hold inPlaceUpdate=hold preNormal=ready", "image=nginx:2", (*setScenario).step)
	situation("hooks that hold a deletion", "preDelete=app", "replicas=2", func(w *setScenario) { w.set.Spec.Lifecycle.PreDelete.LabelsHandler["app"] = "web"; w.step() })
	situation("hooks by finalizer", "", "image=nginx:2", func(w *setScenario) {
		w.set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{
			InPlaceUpdate: &lifecyclev1alpha1.LifecycleHook{FinalizersHandler: []string{"example.com/hold"}, MarkPodNotReady: true}}
		for _, pod := range w.Pods {
			w.Edit(pod.Name, func(p *corev1.Pod) { p.Finalizers = []string{"example.com/hold"} })
		}
	})
	situation("a sidecar is being updated", "", "image=nginx:2", func(w *setScenario) {
		for _, pod := range w.Pods {
			w.Edit(pod.Name, func(p *corev1.Pod) { scenario.UpdateSidecar(t, p, "side", "side:2", w.Now) })
		}
	})
	situation("a grace period", "", "image=nginx:2", func(w *setScenario) {
		w.set.Spec.UpdateStrategy.InPlaceUpdateStrategy = &inplacev1alpha1.InPlaceUpdateStrategy{GracePeriodSeconds: 60}
		w.step()
	})
	situation("containers in batches", "", "image=nginx:2", func(w *setScenario) {
		w.set.Spec.Template.Spec.Containers[1].Image = "side:2"
		w.apply(NewPlan(w.snapshot()))
		w.kubelets()
	})
	situation("an environment from labels", "", "", func(w *setScenario) {
		w.set.Spec.Template.Labels["tier"] = "back"
		w.apply(NewPlan(w.snapshot()))
		w.reportContainers()
	})
	situation("topology spread", "", "replicas=2", func(w *setScenario) {
		w.set.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1}}
	})
	situation("priority and scatter", "", "image=nginx:2", func(w *setScenario) {
		w.set.Spec.UpdateStrategy.PriorityStrategy = &inplacev1alpha1.UpdatePriorityStrategy{OrderPriority: []inplacev1alpha1.UpdatePriorityOrderTerm{{OrderedKey: "new"}}}
		w.set.Spec.UpdateStrategy.ScatterStrategy = inplacev1alpha1.UpdateScatterStrategy{{Key: "app", Value: "web"}}
	})
	resizes(t, all)
	return all
}

// resizes are CloneSets whose pods are resized.
func resizes(t *testing.T, all map[string]*setScenario) {
	for name, then := range map[string]func(*setScenario, *corev1.Pod){
		"resizes begin":               nil,
		"resizes are to be requested": func(w *setScenario, p *corev1.Pod) { p.Spec.Containers[0].Resources = sized("1", "") },
		"resizes are under way":       func(w *setScenario, p *corev1.Pod) {},
		"resizes are deferred":        func(w *setScenario, p *corev1.Pod) { w.pending(p, corev1.PodReasonDeferred) },
		"resizes are infeasible":      func(w *setScenario, p *corev1.Pod) { w.pending(p, corev1.PodReasonInfeasible) },
		"resizes are not observed":    func(w *setScenario, p *corev1.Pod) { p.Status.ObservedGeneration = 1 },
		"resizes were infeasible": func(w *setScenario, p *corev1.Pod) {
			w.pending(p, corev1.PodReasonInfeasible)
			p.Status.Conditions[len(p.Status.Conditions)-1].ObservedGeneration = 1
		},
		"resizes are done": func(w *setScenario, p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources = new(sized("2", "4")) },
	} {
		w := newScenario(t)
		w.features.InPlaceResize = true
		w.set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx:1", Resources: sized("1", ""),
			ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer}}}}
		w.Spec("replicas=3", "type=InPlaceIfPossible", "maxUnavailable=2")
		for range 3 {
			w.step()
		}
		for _, pod := range w.Pods {
			w.Edit(pod.Name, func(p *corev1.Pod) {
				p.Generation, p.Status.ObservedGeneration = 2, 2
				p.Status.ContainerStatuses[0].Resources = new(sized("1", ""))
			})
		}
		w.set.Spec.Template.Spec.Containers[0].Resources = sized("2", "4")
		if then != nil {
			w.apply(NewPlan(w.snapshot()))
			for _, pod := range w.Pods {
				w.Edit(pod.Name, func(p *corev1.Pod) { then(w, p) })
			}
		}
		all[name] = w
	}
}

// sized are the requests and limits of cpu of a container; an empty limit is none.
func sized(request, limit string) (r corev1.ResourceRequirements) {
	r.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}
	if limit != "" {
		r.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
	return r
}

// pending has the kubelet say why it does not resize a pod.
func (w *setScenario) pending(p *corev1.Pod, reason string) {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: reason, ObservedGeneration: 2, LastTransitionTime: metav1.NewTime(w.Now)})
}

func launchPriority(n string) corev1.EnvVar {
	return corev1.EnvVar{Name: lifecyclev1alpha1.ContainerBarrierEnv, ValueFrom: &corev1.EnvVarSource{
		ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: lifecyclev1alpha1.ContainerBarrierKeyPrefix + n}}}
}

// step lets the kubelets and then the controller act once.
func (w *setScenario) step() {
	w.kubelets()
	w.apply(NewPlan(w.snapshot()))
}

func (w *setScenario) kubelets() {
	for _, pod := range w.Pods {
		w.Kubelet(pod.Name)
		w.Edit(pod.Name, func(p *corev1.Pod) { w.SetCondition(p, "example.com/gate", corev1.ConditionTrue); w.Recompute(p) })
	}
	w.Now = w.Now.Add(time.Minute)
}

// reportContainers has the node agents report that all containers run what
// their pods say.
func (w *setScenario) reportContainers() {
	for _, pod := range w.Pods {
		var meta inplacev1alpha1.RuntimeContainersMeta
		for i := range pod.Spec.Containers {
			c := &pod.Spec.Containers[i]
			hash, err := inplace.EnvHash(inplace.ExpectedEnv(pod, c))
			if err != nil {
				w.T.Fatal(err)
			}
			meta.Containers = append(meta.Containers, inplacev1alpha1.RuntimeContainer{
				Name: c.Name, Hashes: inplacev1alpha1.RuntimeContainerHashes{ExtractedEnvFromMetadataHash: hash}})
		}
		data, err := json.Marshal(meta)
		if err != nil {
			w.T.Fatal(err)
		}
		w.Edit(pod.Name, func(p *corev1.Pod) {
			p.Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation] = string(data)
		})
	}
}

// describe is everything that a plan says, whatever object it says it about.
func describe(p *Plan) string {
	var deleted []string
	for _, claim := range p.DeleteClaims {
		deleted = append(deleted, claim.Name)
	}
	return scenario.Describe(&p.Plan, p.Diff, p.Status, p.PodsToDelete, p.PrunePodsToDelete, deleted)
}

// changeable are the fields of a pod that its API lets any client change. Changes
// of owners are always declared.
var changeable = regexp.MustCompile(mutation.Metadata + "|" + mutation.OfPods)

// podFields are those that are declared for the situation.
func (w *setScenario) podFields() controller.Fields {
	if w.features.InPlaceResize {
		return podFields | resizeFields
	}
	return podFields
}

// planned has the planner plan the situations.
func planned(t *testing.T) mutation.Planner[Snapshot] {
	p := mutation.Planner[Snapshot]{Situations: map[string]*Snapshot{}, Describe: func(s *Snapshot) string { return describe(NewPlan(s)) }}
	for name, w := range situations(t) {
		p.Situations[name] = w.snapshot()
	}
	return p
}

// TestOrderOfObjects: the order in which caches have objects changes nothing of what a plan does, and to which of them.
func TestOrderOfObjects(t *testing.T) {
	said := func(s *Snapshot) []string { return slices.Sorted(strings.SplitSeq(NewPlan(s).String(), "\n")) }
	for name, s := range planned(t).Situations {
		with := *s
		with.Pods, with.Revisions = slices.Clone(s.Pods), slices.Clone(s.Revisions)
		slices.Reverse(with.Pods)
		slices.Reverse(with.Revisions)
		if diff := cmp.Diff(said(s), said(&with)); diff != "" {
			t.Errorf("%s: another order gives another plan (-want +got):\n%s", name, diff)
		}
	}
}

func TestEverythingThatThePlannerReadsOfAPodMatters(t *testing.T) {
	t.Parallel()
	reads := mutation.Reads{}
	for name, w := range situations(t) {
		s := w.snapshot()
		s.NodeLabels = map[string]map[string]string{"node-1": {"zone": "a"}, "node-2": {"zone": "a"}, "node-3": {"zone": "b"}}
		mutation.Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Can: changeable, Matters: mutation.Declared[corev1.Pod](w.podFields())}.
			CheckEach(t, reads, name, s.Pods, func(pods []*corev1.Pod) string {
				with := *s
				with.Pods = pods
				return describe(NewPlan(&with))
			})
	}
	reads.Require(t,
		".ObjectMeta.DeletionTimestamp", ".ObjectMeta.Finalizers", ".ObjectMeta.Labels[controller-revision-hash]",
		".ObjectMeta.Labels[lifecycle.apps.kruise.io/state]", ".ObjectMeta.Labels[new]", ".ObjectMeta.Annotations[apps.kruise.io/inplace-update-state]",
		".ObjectMeta.Annotations[apps.kruise.io/inplace-update-grace]", ".ObjectMeta.Annotations[kruise.io/sidecarset-inplace-update-state]", ".Spec.NodeName", ".Status.Phase",
		".Status.Conditions[].Status", ".Status.Conditions[].Type", ".Status.Conditions[].LastTransitionTime",
		".Status.ContainerStatuses[].ImageID", ".Status.ContainerStatuses[].Image", ".Status.ContainerStatuses[].RestartCount",
		".Status.ContainerStatuses[].Resources", ".Status.Conditions[].ObservedGeneration", ".Status.ObservedGeneration",
		".Spec.Containers[].Resources.Requests[cpu]", ".Status.ContainerStatuses[].Ready", ".Status.ContainerStatuses[].ContainerID", ".Status.ContainerStatuses[].Name")
}

func TestEverythingThatThePlannerReadsOfClaimsAndRevisionsMatters(t *testing.T) {
	t.Parallel()
	reads := mutation.Reads{}
	p := planned(t)
	mutation.CheckLists(t, reads, p, mutation.Plan[corev1.PersistentVolumeClaim]{What: "claim", Copy: (*corev1.PersistentVolumeClaim).DeepCopy,
		Can: regexp.MustCompile(mutation.Metadata + `|^\.(Spec|Status)`), Matters: mutation.Declared[corev1.PersistentVolumeClaim](claimFields)},
		func(s *Snapshot) *[]*corev1.PersistentVolumeClaim { return &s.Claims })
	mutation.CheckLists(t, reads, p, mutation.Plan[appsv1.ControllerRevision]{What: "revision", Copy: (*appsv1.ControllerRevision).DeepCopy,
		Can: regexp.MustCompile(mutation.Metadata + `|^\.Revision`), Matters: mutation.Declared[appsv1.ControllerRevision](revisionFields)},
		func(s *Snapshot) *[]*appsv1.ControllerRevision { return &s.Revisions })
	reads.Require(t, "claim.ObjectMeta.DeletionTimestamp", "claim.ObjectMeta.Labels["+v1alpha1.CloneSetInstanceIDLabel+"]", "revision.Revision")
}

func TestCloneSetChanges(t *testing.T) {
	mutation.CheckWorkloads(t, planned(t), (*v1alpha1.CloneSet).DeepCopy, func(s *Snapshot) **v1alpha1.CloneSet { return &s.Set })
}
