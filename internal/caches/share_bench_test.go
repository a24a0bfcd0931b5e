// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// crowdPod is a pod as they come in crowds: two containers, 24 variables, probes, mounts and four
// volumes. Each has its name, UID, node, addresses and container IDs; all else is that of its revision.
func crowdPod(i, revision int) *corev1.Pod {
	set := fmt.Sprintf("web-%d", revision)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("%s-%05x", set, i), GenerateName: set + "-", Namespace: "shop", UID: uid(1, i), ResourceVersion: fmt.Sprint(100000 + i), CreationTimestamp: metav1.Now(),
		Labels: map[string]string{
			"app": set, "team": "checkout", "app.kubernetes.io/name": "web", "app.kubernetes.io/version": "1.2.3",
			"controller-revision-hash": fmt.Sprintf("%s-%010d", set, revision), "apps.kruise.io/cloneset-instance-id": fmt.Sprintf("%05x", i), "lifecycle.apps.kruise.io/state": "Normal",
		},
		Annotations: map[string]string{
			"prometheus.io/scrape": "true", "prometheus.io/port": "8080",
			"apps.kruise.io/runtime-containers-meta": `{"containers":[{"name":"app","containerID":"containerd://` + strings.Repeat("a", 64) + `","restartCount":0,"hashes":{"plainHash":123,"extractedEnvFromMetadataHash":123}}]}`,
		},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: set, UID: uid(2, revision), Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "manager", FieldsV1: fields(1800)}, {Manager: "kubelet", FieldsV1: fields(900)}},
	}}
	for c := range 2 {
		container := crowdContainer(c, revision)
		pod.Spec.Containers = append(pod.Spec.Containers, container)
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Ready: true, Started: ptr.To(true), Image: container.Image, ImageID: "registry.example.test/shop/web@sha256:" + strings.Repeat("b", 64), ContainerID: fmt.Sprintf("containerd://%064d", 2*i+c),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}, AllocatedResources: container.Resources.Requests, Resources: &container.Resources,
		})
	}
	for v := range 4 {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: fmt.Sprintf("vol-%d", v), VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}}}})
	}
	pod.Spec.NodeName = fmt.Sprintf("node-%04d", i%5000)
	pod.Spec.Tolerations = []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: ptr.To[int64](300)}, {Key: "node.kubernetes.io/unreachable", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: ptr.To[int64](300)}}
	for _, condition := range []corev1.PodConditionType{"Initialized", "Ready", "ContainersReady", "PodScheduled", "PodReadyToStartContainers", "InPlaceUpdateReady", "KruisePodReady"} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()})
	}
	pod.Status.Phase, pod.Status.HostIP, pod.Status.PodIP = corev1.PodRunning, fmt.Sprintf("10.0.%d.%d", i%5000/250, i%250), fmt.Sprintf("10.1.%d.%d", i/250%250, i%250)
	pod.Status.PodIPs, pod.Status.HostIPs, pod.Status.StartTime = []corev1.PodIP{{IP: pod.Status.PodIP}}, []corev1.HostIP{{IP: pod.Status.HostIP}}, ptr.To(metav1.Now())
	return pod
}

func fields(n int) *metav1.FieldsV1 {
	return metav1.NewFieldsV1(`{"f:status":"` + strings.Repeat("f", n) + `"}`)
}

func uid(kind, i int) types.UID { return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, i)) }

func crowdContainer(c, revision int) corev1.Container {
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(8080), Scheme: "HTTP"}}, PeriodSeconds: 10, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 3}
	}
	container := corev1.Container{
		Name: fmt.Sprintf("c%d", c), Image: fmt.Sprintf("registry.example.test/shop/checkout/web:1.2.%d-20261126", revision), ImagePullPolicy: "IfNotPresent", TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File",
		Command: []string{"/bin/server", "--config=/etc/server/config.yaml", "--listen=:8080"}, Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("512Mi")}, Limits: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")},
		},
		ReadinessProbe: probe("/ready"), LivenessProbe: probe("/live"),
	}
	for e := range 12 {
		container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_NUMBER_%d", e), Value: fmt.Sprintf("https://service-%d.shop-%d.svc.cluster.local:8443/path", e, revision)})
	}
	for v := range 3 {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: fmt.Sprintf("vol-%d", v), MountPath: fmt.Sprintf("/data/%d", v), ReadOnly: true})
	}
	return container
}

// withToken gives a pod what an API server adds to nearly every one: a volume of a name of its own,
// mounted by all containers.
func withToken(pod *corev1.Pod) *corev1.Pod {
	name := "kube-api-access-" + pod.Name[len(pod.Name)-5:]
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: ptr.To[int32](420), Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: ptr.To[int64](3607), Path: "token"}},
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}}}}},
	}}}})
	for i := range pod.Spec.Containers {
		of := &pod.Spec.Containers[i]
		of.VolumeMounts = append(of.VolumeMounts, corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"})
	}
	return pod
}

// message is an object of Kubernetes' own kinds as it comes from the API server.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// decoded is an object as an informer gets it: nothing of it is that of another.
func decoded[T message](t testing.TB, from, into T) T {
	raw, err := from.Marshal()
	if err == nil {
		err = into.Unmarshal(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return into
}

// podCrowds by name: the pod of a number, and whether pods share parts.
var podCrowds = []struct {
	name   string
	pods   int
	shared bool
	pod    func(i int) *corev1.Pod
}{
	{"alike", 100000, true, func(i int) *corev1.Pod { return crowdPod(i, i%500) }},
	{"sorted", 20000, true, func(i int) *corev1.Pod { return crowdPod(i, i/200) }},
	{"token", 20000, true, func(i int) *corev1.Pod { return withToken(crowdPod(i, i%100)) }},
	{"unlike", 10000, true, func(i int) *corev1.Pod { return crowdPod(i, i) }},
	{"unshared", 10000, false, func(i int) *corev1.Pod { return crowdPod(i, i) }},
}

// trim is Trim, or what it does without sharing parts.
func trim(object any, shared bool) {
	drop(object)
	if shared {
		shareParts(object)
	}
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkCachedPods: the memory that a pod takes in a cache with all indexes.
func BenchmarkCachedPods(b *testing.B) {
	for _, crowd := range podCrowds {
		b.Run(crowd.name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				informer := cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{})
				if err := AddIndexes(informer, ByNamespace, ByOwner, ByMember, ByLabelPair, ByNode, ByPullNode); err != nil {
					b.Fatal(err)
				}
				for i := range crowd.pods {
					pod := decoded(b, crowd.pod(i), &corev1.Pod{})
					trim(pod, crowd.shared)
					if err := informer.GetIndexer().Add(pod); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric((heap()-before)/float64(crowd.pods), "B/pod")
				runtime.KeepAlive(informer)
			}
		})
	}
}

// BenchmarkPodEvent: what Trim takes after a pod has been decoded. These are medians, since the machine may have other work. Of
// pods that are unlike no version is known; of the others, an older one.
func BenchmarkPodEvent(b *testing.B) {
	for _, crowd := range podCrowds {
		const pods = 8000
		var raws [pods][]byte
		for i := range raws {
			raw, err := crowd.pod(i).Marshal()
			if err != nil {
				b.Fatal(err)
			}
			raws[i] = raw
		}
		held := make([]*corev1.Pod, pods) // as a cache does
		b.Run(crowd.name, func(b *testing.B) {
			b.ReportAllocs()
			var decode, trims []time.Duration
			for i := 0; b.Loop(); i++ {
				if i%pods == 0 && crowd.name == "unlike" {
					crowds.pods.groups.Store(nil)
				}
				pod, begin := &corev1.Pod{}, time.Now()
				if err := pod.Unmarshal(raws[i%pods]); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				trim(pod, crowd.shared)
				decode, trims = append(decode, between.Sub(begin)), append(trims, time.Since(between))
				held[i%pods] = pod
			}
			slices.Sort(decode)
			slices.Sort(trims)
			d, t := decode[len(decode)/2], trims[len(trims)/2]
			b.ReportMetric(float64(d), "decode-ns")
			b.ReportMetric(float64(t), "trim-ns")
			b.ReportMetric(float64(d+t)/float64(d), "of-decode")
		})
	}
}
