// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
)

// crowd makes one object of many, by its text in testdata/crowds.yaml. There, $i is its number and $group that of the objects that are like it.
func crowd[T any](t testing.TB, kind string, i, group int) *T {
	t.Helper()
	now := time.Unix(1760000000+int64(i), 0).UTC()
	words := strings.NewReplacer("$i", fmt.Sprint(i), "$version", fmt.Sprint(100000+i), "$hex", fmt.Sprintf("%05x", i), "$uid", fmt.Sprintf("%012x", i),
		"$node", fmt.Sprintf("%04d", i%5000), "$zone", string(rune('a'+i%3)), "$ip", fmt.Sprintf("%d.%d", i/250%250, i%250),
		"$of", fmt.Sprint(i%10), "$ten", fmt.Sprint(i/10), "$group", fmt.Sprint(group), "$revision", fmt.Sprintf("%010d", group), "$owner", fmt.Sprintf("%012x", group),
		"$fields", strings.Repeat("f", 900), "$now", now.Format(time.RFC3339), "$later", now.Add(time.Duration(i%60)*time.Second).Format(time.RFC3339))
	object := new(T)
	texts, err := crowdTexts()
	if err == nil {
		err = json.Unmarshal([]byte(words.Replace(string(texts[kind]))), object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

var crowdTexts = sync.OnceValues(func() (texts map[string]json.RawMessage, err error) {
	raw, err := os.ReadFile("testdata/crowds.yaml")
	if err != nil {
		return nil, err
	}
	return texts, yaml.Unmarshal(raw, &texts)
})

func uid(kind, i int) types.UID { return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, i)) }

// withToken is a pod with the volume of a name of its own that an API server adds to nearly every one.
func withToken(t testing.TB, i, group int) *corev1.Pod {
	pod, token := crowd[corev1.Pod](t, "pod", i, group), crowd[corev1.Pod](t, "token", i, group)
	pod.Spec.Volumes = append(pod.Spec.Volumes, token.Spec.Volumes...)
	for c := range pod.Spec.Containers {
		of := &pod.Spec.Containers[c]
		of.VolumeMounts = append(of.VolumeMounts, token.Spec.Containers[c].VolumeMounts...)
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

// podCrowds by name: how many there are, whether they share parts, and the group of each.
var podCrowds = []struct {
	name   string
	pods   int
	shared bool
	pod    func(t testing.TB, i, group int) *corev1.Pod
	group  func(i int) int
}{
	{"alike", 100000, true, crowdPod, func(i int) int { return i % 500 }},
	{"sorted", 20000, true, crowdPod, func(i int) int { return i / 200 }},
	{"token", 20000, true, withToken, func(i int) int { return i % 100 }},
	{"unlike", 10000, true, crowdPod, func(i int) int { return i }},
	{"unshared", 10000, false, crowdPod, func(i int) int { return i }},
}

func crowdPod(t testing.TB, i, group int) *corev1.Pod { return crowd[corev1.Pod](t, "pod", i, group) }

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
					pod := decoded(b, crowd.pod(b, i, crowd.group(i)), &corev1.Pod{})
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
			raw, err := crowd.pod(b, i, crowd.group(i)).Marshal()
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

// BenchmarkCachedKinds: the memory that objects of other kinds take, with and without the
// sharing of parts, and the time that it takes.
func BenchmarkCachedKinds(b *testing.B) {
	const objects = 5000
	for name, get := range map[string]func(i int) any{
		"claims": func(i int) any {
			return decoded(b, crowd[corev1.PersistentVolumeClaim](b, "claim", i, 0), &corev1.PersistentVolumeClaim{})
		},
		"revisions": func(i int) any {
			return decoded(b, crowd[appsv1.ControllerRevision](b, "revision", i, i), &appsv1.ControllerRevision{})
		},
		"nodes":      func(i int) any { return decoded(b, crowd[corev1.Node](b, "node", i, i%20), &corev1.Node{}) },
		"images":     func(i int) any { return crowd[distributionv1alpha1.NodeImage](b, "images", i, 0) },
		"pods, JSON": func(i int) any { return crowdPod(b, i, i/100) },
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
