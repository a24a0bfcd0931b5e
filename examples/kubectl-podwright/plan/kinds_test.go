// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// edits are what users change about any kind.
var edits = append([]simulation.Edit{
	simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}`, 1, 2, 3, 4, "bad"),
	simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}`, 1, 2, 3),
	simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","env":[{"name":"A","value":"%v"}]}]}}}}`, 1, 2),
	simulation.Pick(`{"spec":{"template":{"metadata":{"labels":{"version":"%v"}}}}}`, 1, 2),
	simulation.Pick(`{"spec":{"revisionHistoryLimit":%v}}`, 0, 1, 10),
}, simulation.Hooks...)

// replicas and rolling are those of kinds that have them.
var (
	replicas = simulation.Pick(`{"spec":{"replicas":%v}}`, 0, 2, 3, 4, 5)
	rolling  = []simulation.Edit{
		simulation.Pick(`{"spec":{"updateStrategy":{"type":"%v"}}}`, "RollingUpdate", "RollingUpdate", "OnDelete"),
		simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":%v}}}}`, 0, 0, 1, 2),
		simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":%v}}}}`, true, false, false),
	}
)

// act has users edit the workload, answer hooks, and meddle with pods.
func act(edits []simulation.Edit) func(u *simulation.User, r *rand.Rand) {
	return func(u *simulation.User, r *rand.Rand) {
		pod := u.AnyPod(r)
		if n := r.IntN(10); pod == nil || n < 6 {
			u.Edit(simulation.AnyEdit(r, edits))
			return
		} else if n < 8 {
			u.AnswerHook(pod)
			return
		}
		switch r.IntN(6) {
		case 0:
			u.CreateStranger(fmt.Sprint("web-", r.IntN(6)))
		case 1:
			u.Disown(pod)
		case 2:
			u.DeletePod(pod.Name, nil)
		case 3:
			u.Quarantine(pod)
		case 4:
			u.Corrupt(pod)
		case 5:
			u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
		}
	}
}

// create returns a function that makes an object and changes it a few times.
func create(object func(r *rand.Rand) simulation.Object, edits []simulation.Edit) func(r *rand.Rand) simulation.Object {
	return func(r *rand.Rand) simulation.Object {
		o := object(r)
		for range r.IntN(6) {
			simulation.Merge(o, simulation.AnyEdit(r, edits))
		}
		return o
	}
}

var objectMeta = metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}

// selector returns one of its own for each object, which histories change at the same time.
func selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

func podTemplate(r *rand.Rand) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: simulation.PodLabels(r)}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}, ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}}}}
}

func cloneSets() *controlled {
	edits := append([]simulation.Edit{
		replicas,
		simulation.Pick(`{"spec":{"updateStrategy":{"type":"%v"}}}`, "ReCreate", "InPlaceIfPossible", "InPlaceOnly"),
		simulation.Pick(`{"spec":{"updateStrategy":{"partition":%v}}}`, 0, 0, 1, 2, `"40%"`),
		simulation.Pick(`{"spec":{"updateStrategy":{"maxUnavailable":%v}}}`, 1, 2, `"50%"`),
		simulation.Pick(`{"spec":{"updateStrategy":{"maxSurge":%v}}}`, 0, 1, 2),
		simulation.Pick(`{"spec":{"updateStrategy":{"paused":%v}}}`, true, false, false),
		simulation.Pick(`{"spec":{"minReadySeconds":%v}}`, 0, 10, 60),
	}, edits...)
	return &controlled{
		Subject: &simulation.Subject{
			Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
			Act:      act(edits),
			Create: create(func(r *rand.Rand) simulation.Object {
				return &v1alpha1.CloneSet{ObjectMeta: objectMeta, Spec: v1alpha1.CloneSetSpec{
					Replicas: ptr.To(1 + r.Int32N(4)), Selector: selector(), Template: podTemplate(r)}}
			}, edits),
			Empty: func() simulation.Object { return &v1alpha1.CloneSet{} },
		},
		caches: func(c *clients) informers {
			all := newCaches(c.kube)
			all["persistentvolumeclaims"] = caches.NewInformers(c.kube, key.Namespace).Claims()
			all["clonesets"] = client.NewCloneSetInformer(c.workloads, key.Namespace, 0, cache.Indexers{})
			return all
		},
		controller: func(with *clients, in informers) (*controller, error) {
			c, err := cloneset.New(cloneset.Options{Kubernetes: with.kube, Workloads: with.workloads, NoNodes: true, CloneSets: in["clonesets"],
				Pods: in["pods"], Claims: in["persistentvolumeclaims"], Revisions: in["controllerrevisions"]})
			if err != nil {
				return nil, err
			}
			return &controller{c.Reconcile, c.Run}, nil
		},
	}
}

// later are edits of what StatefulSets have of OpenKruise 1.9.
var later = []simulation.Edit{
	simulation.Pick(`{"spec":{"ordinals":%v}}`, "null", `{"start":1}`, `{"start":2}`),
	simulation.Pick(`{"spec":{"reserveOrdinals":%v}}`, "[]", `["1-2"]`, `[0,"2-3"]`),
	simulation.Pick(`{"spec":{"lifecycle":{"preNormal":%v}}}`, "null", `{"labelsHandler":{"warm":"yes"}}`),
}

func statefulSets(release podwright.Release) *controlled {
	edits := append([]simulation.Edit{
		replicas,
		simulation.Pick(`{"spec":{"reserveOrdinals":%v}}`, "[]", "[0]", "[1,3]"),
		simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"%v"}}}}`, "ReCreate", "InPlaceIfPossible", "InPlaceOnly"),
		simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"minReadySeconds":%v}}}}`, 0, 10, 60),
		simulation.Pick(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"%v"}}}`, "Retain", "Delete"),
	}, append(rolling, edits...)...)
	features := statefulset.FeaturesOf(release)
	if release == podwright.Release19 {
		edits = append(edits, later...)
		features.StartOrdinal, features.PreparingUpdateAsUpdate, features.ResizeClaims = true, true, true
	}
	return &controlled{
		release: release,
		Subject: &simulation.Subject{
			Resource: fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
			Act:      act(edits),
			Create: create(func(r *rand.Rand) simulation.Object {
				set := &v1beta1.StatefulSet{ObjectMeta: objectMeta, Spec: v1beta1.StatefulSetSpec{
					Replicas: ptr.To(1 + r.Int32N(4)), ServiceName: "web", Selector: selector(), Template: podTemplate(r),
					PodManagementPolicy: []appsv1.PodManagementPolicyType{appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement}[r.IntN(2)],
					UpdateStrategy:      v1beta1.StatefulSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateStatefulSetStrategy{}}}}
				if r.IntN(2) == 0 {
					set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
				}
				return set
			}, edits),
			Empty: func() simulation.Object { return &v1beta1.StatefulSet{} },
		},
		caches: func(c *clients) informers {
			all := newCaches(c.kube)
			all["persistentvolumeclaims"] = caches.NewInformers(c.kube, key.Namespace).Claims()
			all["statefulsets"] = client.NewStatefulSetInformer(c.workloads, key.Namespace, 0, cache.Indexers{})
			return all
		},
		controller: func(with *clients, in informers) (*controller, error) {
			c, err := statefulset.New(statefulset.Options{Kubernetes: with.kube, Workloads: with.workloads, AdvancedStatefulSets: in["statefulsets"],
				Pods: in["pods"], Claims: in["persistentvolumeclaims"], Revisions: in["controllerrevisions"], Features: features})
			if err != nil {
				return nil, err
			}
			return &controller{c.Reconcile, c.Run}, nil
		},
	}
}

func daemonSets() *controlled {
	edits := append([]simulation.Edit{
		simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":%v}}}`, `{"rollingUpdateType":"Standard","maxUnavailable":1,"maxSurge":null}`,
			`{"rollingUpdateType":"InPlaceIfPossible","maxUnavailable":2,"maxSurge":null}`, `{"rollingUpdateType":"Standard","maxUnavailable":0,"maxSurge":1}`),
		simulation.Pick(`{"spec":{"template":{"spec":{"nodeSelector":%v}}}}`, "null", "null", `{"zone":"a"}`),
		simulation.Pick(`{"spec":{"burstReplicas":%v}}`, "null", 1, `"50%"`),
		simulation.Pick(`{"spec":{"minReadySeconds":%v}}`, 0, 10, 60),
	}, append(rolling, edits[:len(edits)-2]...)...) // of the hooks they have the first
	return &controlled{
		Subject: &simulation.Subject{
			Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("DaemonSet"), "daemonsets"),
			Nodes:    4,
			Act:      act(edits),
			Create: create(func(r *rand.Rand) simulation.Object {
				return &v1alpha1.DaemonSet{ObjectMeta: objectMeta, Spec: v1alpha1.DaemonSetSpec{Selector: selector(), Template: podTemplate(r)}}
			}, edits),
			Empty: func() simulation.Object { return &v1alpha1.DaemonSet{} },
		},
		caches: func(c *clients) informers {
			all := newCaches(c.kube)
			all["nodes"] = caches.NewInformers(c.kube, "").Nodes()
			all["daemonsets"] = client.NewDaemonSetInformer(c.workloads, key.Namespace, 0, cache.Indexers{})
			return all
		},
		controller: func(with *clients, in informers) (*controller, error) {
			c, err := daemonset.New(daemonset.Options{Kubernetes: with.kube, Workloads: with.workloads, DaemonSets: in["daemonsets"],
				Pods: in["pods"], Nodes: in["nodes"], Revisions: in["controllerrevisions"]})
			if err != nil {
				return nil, err
			}
			return &controller{c.Reconcile, c.Run}, nil
		},
	}
}
