// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// story is one run: the workloads, who changes them, and what happens.
type story struct {
	*testbed.Scene
	seed     uint64
	random   *rand.Rand
	record   *invariants.Record
	managers *managers

	pods         *mirror.Mirror[*corev1.Pod]
	claims       *mirror.Mirror[*corev1.PersistentVolumeClaim]
	revisions    *mirror.Mirror[*appsv1.ControllerRevision]
	cloneSets    *mirror.Mirror[*v1alpha1.CloneSet]
	statefulSets *mirror.Mirror[*v1beta1.StatefulSet]
	images       map[string][]string // that users have chosen, by workload

	nodes         []string // of DaemonSets
	daemonSets    *mirror.Mirror[*v1alpha1.DaemonSet]
	broadcastJobs *mirror.Mirror[*v1alpha1.BroadcastJob]
	cronJobs      *mirror.Mirror[*v1alpha1.AdvancedCronJob]
	jobs          *mirror.Mirror[*batchv1.Job]
	sidecarSets   *mirror.Mirror[*sidecarv1alpha1.SidecarSet]
	budgets       *mirror.Mirror[*availabilityv1alpha1.PodUnavailableBudget]
	disruptions   disruptions

	unitedDeployments *mirror.Mirror[*v1alpha1.UnitedDeployment]
	spreads           *mirror.Mirror[*distributionv1alpha1.WorkloadSpread]
	podStates         *mirror.Mirror[*distributionv1alpha1.PersistentPodState]
	rounds            int // that have been settled

	namespaces    *mirror.Mirror[*corev1.Namespace]
	distributions *mirror.Mirror[*distributionv1alpha1.ResourceDistribution]
	configs       *mirror.Mirror[*corev1.ConfigMap] // copies, and what has their name
	secrets       *mirror.Mirror[*corev1.Secret]    // the same

	debugs  debugs
	markers *mirror.Mirror[*lifecyclev1alpha1.PodProbeMarker]
	probes  *mirror.Mirror[*lifecyclev1alpha1.NodePodProbe]
	results atomic.Int64 // choose which probes succeed

	mu    sync.Mutex
	begin time.Time
	trace []string
}

// newStory creates the workloads, and strangers beside them.
func newStory(t *testing.T, seed uint64) *story {
	t.Helper()
	s := &story{Scene: bed.NewScene(t, nil), seed: seed, random: rand.New(rand.NewPCG(seed, 0)), images: map[string][]string{}, begin: time.Now()}
	strangers := slices.Concat(s.strangers(), s.strangeCopies())
	s.record = invariants.NewRecord(strangers...)
	t.Cleanup(s.report)

	s.createTaskNodes()
	s.nodes = s.baseNodes()
	s.daemonSets = testbed.Follow(s.Scene, mirror.Of(workloads.DaemonSets(s.Namespace)), invariants.Observe[*v1alpha1.DaemonSet](s.record))
	s.broadcastJobs = testbed.Follow(s.Scene, mirror.Of(workloads.BroadcastJobs(s.Namespace)), invariants.Observe[*v1alpha1.BroadcastJob](s.record))
	s.cronJobs = testbed.Follow(s.Scene, mirror.Of(workloads.AdvancedCronJobs(s.Namespace)), invariants.Observe[*v1alpha1.AdvancedCronJob](s.record))
	s.jobs = testbed.Follow(s.Scene, mirror.Of(bed.Core.BatchV1().Jobs(s.Namespace)), invariants.Observe[*batchv1.Job](s.record))
	s.createSidecarSets()
	s.sidecarSets = testbed.Follow(s.Scene, mirror.Of(sidecars.SidecarSets()), invariants.Observe[*sidecarv1alpha1.SidecarSet](s.record))
	s.cloneSets = testbed.Follow(s.Scene, mirror.Of(workloads.CloneSets(s.Namespace)), invariants.Observe[*v1alpha1.CloneSet](s.record))
	s.statefulSets = testbed.Follow(s.Scene, mirror.Of(workloads.StatefulSets(s.Namespace)), invariants.Observe[*v1beta1.StatefulSet](s.record))
	s.revisions = testbed.Follow(s.Scene, mirror.Of(bed.Core.AppsV1().ControllerRevisions(s.Namespace)), invariants.Observe[*appsv1.ControllerRevision](s.record))
	s.pods = testbed.Follow(s.Scene, mirror.Of(bed.Core.CoreV1().Pods(s.Namespace)), invariants.Observe[*corev1.Pod](s.record))
	s.claims = testbed.Follow(s.Scene, mirror.Of(bed.Core.CoreV1().PersistentVolumeClaims(s.Namespace)), invariants.Observe[*corev1.PersistentVolumeClaim](s.record))
	s.createBudget()
	s.createPlaces()
	s.createDistributions()
	s.followDebugs()
	s.createMarker()
	for _, name := range append(cloneSets[:len(cloneSets):len(cloneSets)], clonedGuarded) {
		if _, err := workloads.CloneSets(s.Namespace).Create(s.Context(), cloneSet(name), metav1.CreateOptions{}); err != nil {
			s.Fatalf("create CloneSet %s: %v", name, err)
		}
	}
	for _, name := range statefulSets {
		if _, err := workloads.StatefulSets(s.Namespace).Create(s.Context(), statefulSet(name), metav1.CreateOptions{}); err != nil {
			s.Fatalf("create StatefulSet %s: %v", name, err)
		}
	}
	for _, name := range daemonSets {
		if _, err := workloads.DaemonSets(s.Namespace).Create(s.Context(), daemonSet(name), metav1.CreateOptions{}); err != nil {
			s.Fatalf("create DaemonSet %s: %v", name, err)
		}
	}
	if _, err := workloads.AdvancedCronJobs(s.Namespace).Create(s.Context(), cronJob(ticking), metav1.CreateOptions{}); err != nil {
		s.Fatalf("create AdvancedCronJob %s: %v", ticking, err)
	}
	return s
}

// strangers creates pods and claims with the labels of workloads, without an owner and with another one. It creates revisions
// without labels, because with labels those without an owner would be adopted. It returns them when no controller has anything
// to do to them any more.
func (s *story) strangers() (uids []types.UID) {
	s.Helper()
	owner, err := bed.Core.CoreV1().ConfigMaps(s.Namespace).Create(s.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create a ConfigMap: %v", err)
	}
	owned := []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: new(true)}}
	for i, name := range slices.Concat(cloneSets, statefulSets) {
		meta := metav1.ObjectMeta{Name: "stranger-" + name, Labels: map[string]string{"app": name, v1alpha1.CloneSetInstanceIDLabel: "abcde"}}
		if i%2 == 0 {
			meta.OwnerReferences = owned
		}
		t := template(name)
		t.Spec.ReadinessGates = nil
		pod, err := bed.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), &corev1.Pod{ObjectMeta: meta, Spec: t.Spec}, metav1.CreateOptions{})
		if err != nil {
			s.Fatalf("create a stranger: %v", err)
		}
		claim, err := bed.Core.CoreV1().PersistentVolumeClaims(s.Namespace).Create(s.Context(),
			&corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: claims()[0].Spec}, metav1.CreateOptions{})
		if err != nil {
			s.Fatalf("create a stranger: %v", err)
		}
		meta.Labels = nil
		revision, err := bed.Core.AppsV1().ControllerRevisions(s.Namespace).Create(s.Context(),
			&appsv1.ControllerRevision{ObjectMeta: meta, Data: runtime.RawExtension{Raw: []byte("{}")}}, metav1.CreateOptions{})
		if err != nil {
			s.Fatalf("create a stranger: %v", err)
		}
		uids = append(uids, pod.UID, claim.UID, revision.UID)
	}
	for _, name := range slices.Concat(cloneSets, statefulSets) {
		s.AwaitPod("stranger-"+name, "runs", func(pod *corev1.Pod) string {
			if !podstate.InService(pod) {
				return podstate.Describe(pod, false)
			}
			return ""
		})
	}
	return uids
}

// note writes a line into the trace.
func (s *story) note(format string, arguments ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace = append(s.trace, fmt.Sprintf("%s (%5.1f s) %s", time.Now().Format("15:04:05.000"), time.Since(s.begin).Seconds(), fmt.Sprintf(format, arguments...)))
}

// report says what has happened if the test failed.
func (s *story) report() {
	if !s.Failed() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if wrong := s.record.Review(); len(wrong) > 0 {
		s.Logf("%d invariants are broken:\n%s", len(wrong), strings.Join(wrong[:min(20, len(wrong))], "\n"))
	}
	s.Logf("what has happened at last:\n%s", strings.Join(s.trace[max(0, len(s.trace)-60):], "\n"))
	s.Logf("the last changes of pods, budgets and workloads:\n%s", strings.Join(s.record.Last(100), "\n"))
	var pods []string
	for _, pod := range s.pods.All() {
		pods = append(pods, podstate.Describe(pod, false))
	}
	slices.Sort(pods)
	s.Logf("the pods:\n%s", strings.Join(pods, "\n"))
	s.Logf("more of the last changes of pods, budgets and workloads:\n%s", strings.Join(s.record.Last(600), "\n"))
	s.Logf("the workloads:\n%s", strings.Join(s.unsettled(), "\n"))
	s.Logf("all that has happened:\n%s", strings.Join(s.trace, "\n"))
	if s.managers != nil {
		s.managers.report()
	}
}

// reviewed fails if an invariant has been broken.
func (s *story) reviewed() {
	s.Helper()
	if wrong := s.record.Review(); len(wrong) > 0 {
		s.Fatalf("%d invariants are broken, the first one: %s", len(wrong), wrong[0])
	}
}

// observed adds to the record an object that a user or an agent has been shown. A watch that breaks may miss one of two changes.
func (s *story) observed(set metav1.Object) {
	s.record.Add(set.GetResourceVersion(), false, invariants.Change{New: set})
}

// within is a context for one request of a user.
func (s *story) within(limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.Context(), limit)
}
