// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
)

// crowdClaim is the claim of a pod of a StatefulSet of ten.
func crowdClaim(i int) *corev1.PersistentVolumeClaim {
	set := fmt.Sprintf("db-%d", i/10)
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("data-%s-%d", set, i%10), Namespace: "shop", UID: uid(3, i), ResourceVersion: fmt.Sprint(i), CreationTimestamp: metav1.Now(), Finalizers: []string{"kubernetes.io/pvc-protection"},
			Labels: map[string]string{"app": set, "team": "checkout"},
			Annotations: map[string]string{
				"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes", "volume.kubernetes.io/selected-node": fmt.Sprintf("node-%04d", i%5000),
				"volume.beta.kubernetes.io/storage-provisioner": "ebs.csi.aws.com", "volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com",
			},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}, StorageClassName: ptr.To("gp3"), VolumeMode: ptr.To(corev1.PersistentVolumeFilesystem), VolumeName: "pvc-" + string(uid(3, i)),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("100Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}, Capacity: corev1.ResourceList{"storage": resource.MustParse("100Gi")}},
	}
}

// crowdRevision is one of the ten of a workload, with its template.
func crowdRevision(t testing.TB, i int) *appsv1.ControllerRevision {
	set := fmt.Sprintf("web-%d", i/10)
	pod := crowdPod(i, i)
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"$patch": "replace", "metadata": map[string]any{"labels": pod.Labels}, "spec": pod.Spec}}})
	if err != nil {
		t.Fatal(err)
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%010d", set, i), Namespace: "shop", UID: uid(4, i), ResourceVersion: fmt.Sprint(i), CreationTimestamp: metav1.Now(), Labels: map[string]string{"app": set, "team": "checkout", "controller-revision-hash": fmt.Sprintf("%010d", i)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: set, UID: uid(2, i/10), Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
		},
		Data: kruntime.RawExtension{Raw: data}, Revision: int64(i % 10),
	}
}

// crowdNode is one of 20 machine types in three zones.
func crowdNode(i int) *corev1.Node {
	name, resources := fmt.Sprintf("node-%04d", i), corev1.ResourceList{}
	for _, r := range []string{"cpu=16", "memory=65Gi", "ephemeral-storage=100Gi", "pods=110", "hugepages-1Gi=0", "hugepages-2Mi=0"} {
		key, value, _ := strings.Cut(r, "=")
		resources[corev1.ResourceName(key)] = resource.MustParse(value)
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: uid(5, i), ResourceVersion: fmt.Sprint(i), CreationTimestamp: metav1.Now(),
			Labels: map[string]string{
				"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
				"node.kubernetes.io/instance-type": fmt.Sprintf("m6i.%dxlarge", i%20), "topology.kubernetes.io/region": "eu-central-1", "topology.kubernetes.io/zone": fmt.Sprintf("eu-central-1%c", 'a'+i%3), "pool": "general",
			},
			Annotations: map[string]string{"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true", "csi.volume.kubernetes.io/nodeid": `{"ebs.csi.aws.com":"i-` + fmt.Sprintf("%017d", i) + `"}`},
		},
		Spec: corev1.NodeSpec{ProviderID: "aws:///eu-central-1a/i-" + fmt.Sprintf("%017d", i), PodCIDR: fmt.Sprintf("10.%d.%d.0/24", i/256, i%256), PodCIDRs: []string{fmt.Sprintf("10.%d.%d.0/24", i/256, i%256)}},
		Status: corev1.NodeStatus{
			Capacity: resources, Allocatable: resources, Addresses: []corev1.NodeAddress{{Type: "InternalIP", Address: fmt.Sprintf("10.0.%d.%d", i/256, i%256)}, {Type: "Hostname", Address: name}},
			NodeInfo: corev1.NodeSystemInfo{MachineID: fmt.Sprintf("%032d", i), SystemUUID: string(uid(6, i)), BootID: string(uid(7, i)), KernelVersion: "6.12.0-1-amd64", OSImage: "Debian GNU/Linux 13", ContainerRuntimeVersion: "containerd://2.1.0", KubeletVersion: "v1.36.1", OperatingSystem: "linux", Architecture: "amd64"},
		},
	}
	for _, condition := range []corev1.NodeConditionType{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"} {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: condition, Status: "False", Reason: "KubeletHasSufficient", Message: "kubelet has sufficient memory, disk or PID available", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()})
	}
	return node
}

// crowdImages is the NodeImage of a node to which 20 jobs have images pulled.
func crowdImages(i int) *distributionv1alpha1.NodeImage {
	n := &distributionv1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%04d", i), UID: uid(8, i), ResourceVersion: fmt.Sprint(i), CreationTimestamp: metav1.Now()}}
	n.Spec.Images, n.Status.ImageStatuses = map[string]distributionv1alpha1.ImageSpec{}, map[string]distributionv1alpha1.ImageStatus{}
	for image := range 20 {
		name, now := fmt.Sprintf("registry.example.test/shop/service-%d", image), metav1.NewTime(time.Unix(1760000000+int64(image), 0))
		done := metav1.NewTime(now.Add(time.Duration(i%60) * time.Second))
		n.Spec.Images[name] = distributionv1alpha1.ImageSpec{PullSecrets: []distributionv1alpha1.ReferenceObject{{Namespace: "kruise-daemon-config", Name: "pull"}}, Tags: []distributionv1alpha1.ImageTagSpec{{
			Tag: "1.2.3", CreatedAt: &now, PullPolicy: &distributionv1alpha1.ImageTagPullPolicy{TimeoutSeconds: ptr.To[int32](600)},
			OwnerReferences: []corev1.ObjectReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "ImagePullJob", Namespace: "shop", Name: fmt.Sprintf("pull-%d", image), UID: uid(9, image)}},
		}}}
		n.Status.ImageStatuses[name] = distributionv1alpha1.ImageStatus{Tags: []distributionv1alpha1.ImageTagStatus{{Tag: "1.2.3", Phase: "Succeeded", Progress: 100, StartTime: &now, CompletionTime: &done, ImageID: "sha256:" + strings.Repeat("c", 64)}}}
	}
	n.Status.Desired, n.Status.Succeeded = 20, 20
	return n
}

// BenchmarkCachedKinds: the memory that objects of other kinds take, with and without the
// sharing of parts, and the time that it takes.
func BenchmarkCachedKinds(b *testing.B) {
	const objects = 5000
	throughJSON := func(from, into any) any {
		raw, err := json.Marshal(from)
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			b.Fatal(err)
		}
		return into
	}
	for name, get := range map[string]func(i int) any{
		"claims":     func(i int) any { return decoded(b, crowdClaim(i), &corev1.PersistentVolumeClaim{}) },
		"revisions":  func(i int) any { return decoded(b, crowdRevision(b, i), &appsv1.ControllerRevision{}) },
		"nodes":      func(i int) any { return decoded(b, crowdNode(i), &corev1.Node{}) },
		"images":     func(i int) any { return throughJSON(crowdImages(i), &distributionv1alpha1.NodeImage{}) },
		"pods, JSON": func(i int) any { return throughJSON(crowdPod(i, i/100), &corev1.Pod{}) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for unit, share := range map[string]func(any){"unshared-B": func(any) {}, "B/object": shareParts} {
					before, held := heap(), make([]any, objects)
					var times []time.Duration
					for i := range held {
						held[i] = get(i)
						drop(held[i])
						begin := time.Now()
						share(held[i])
						times = append(times, time.Since(begin))
					}
					b.ReportMetric((heap()-before)/objects, unit)
					if slices.Sort(times); unit == "B/object" {
						b.ReportMetric(float64(times[objects/2]), "share-ns")
					}
					runtime.KeepAlive(held)
				}
			}
		})
	}
}
