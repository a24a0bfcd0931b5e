// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// The workloads of nodes and the cron jobs, by name.
const (
	daemonRecreate = "daemon" // recreated, one node at a time
	daemonInPlace  = "agent"  // in place, one node at a time

	ticking = "ticking" // an AdvancedCronJob

	tasksLabel = "example.com/tasks" // is on the nodes of BroadcastJobs, which nothing else tolerates
	taskNodes  = 12
	// tick is how often the cron job is due.
	tick = 3 * time.Second
)

var daemonSets = []string{daemonRecreate, daemonInPlace}

func daemonSet(name string) *v1alpha1.DaemonSet {
	set := &v1alpha1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: template(name),
			UpdateStrategy: v1alpha1.DaemonSetUpdateStrategy{RollingUpdate: &v1alpha1.RollingUpdateDaemonSet{
				Type: v1alpha1.StandardRollingUpdateType, MaxUnavailable: new(intstr.FromInt32(1)),
			}},
		},
	}
	if name == daemonInPlace {
		set.Spec.UpdateStrategy.RollingUpdate.Type = v1alpha1.InplaceRollingUpdateType
	}
	return set
}

// broadcastJob runs on the nodes of tasks, until endTasks ends its pods.
func broadcastJob(number int) *v1alpha1.BroadcastJob {
	job := &v1alpha1.BroadcastJob{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("task", number)},
		Spec: v1alpha1.BroadcastJobSpec{
			Parallelism:   new(intstr.FromInt32(5)),
			FailurePolicy: v1alpha1.FailurePolicy{Type: v1alpha1.FailurePolicyTypeContinue},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				AutomountServiceAccountToken: new(false), RestartPolicy: corev1.RestartPolicyNever,
				NodeSelector: map[string]string{tasksLabel: "yes"},
				Tolerations:  []corev1.Toleration{{Key: tasksLabel, Operator: corev1.TolerationOpExists}},
				Containers:   []corev1.Container{{Name: "main", Image: "task:forever"}},
			}},
		},
	}
	return job
}

// cronJob creates jobs that need no pods, which all stay.
func cronJob(name string) *v1alpha1.AdvancedCronJob {
	return &v1alpha1.AdvancedCronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.AdvancedCronJobSpec{
			Schedule: "@every " + tick.String(), SuccessfulJobsHistoryLimit: new(int32(10000)), FailedJobsHistoryLimit: new(int32(10000)),
			Template: v1alpha1.CronJobTemplate{JobTemplate: &batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Completions: new(int32(0)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "backup:1"}},
				}},
			}}},
		},
	}
}

// createTaskNodes creates the nodes of BroadcastJobs, until the test ends.
func (s *story) createTaskNodes() {
	s.Helper()
	for i := range taskNodes {
		node := cluster.NewNode(fmt.Sprint("task-", i), "", 100+i)
		node.Labels[tasksLabel] = "yes"
		node.Spec.Taints = []corev1.Taint{{Key: tasksLabel, Effect: corev1.TaintEffectNoSchedule}}
		if _, err := bed.Core.CoreV1().Nodes().Create(s.Context(), node, metav1.CreateOptions{}); err != nil {
			s.Fatalf("create node %s: %v", node.Name, err)
		}
		s.Cleanup(func() { _ = bed.Core.CoreV1().Nodes().Delete(context.Background(), node.Name, metav1.DeleteOptions{}) })
	}
}

func (s *story) editDaemonSet(name, what string, change func(*v1alpha1.DaemonSet)) (version string) {
	s.Helper()
	return edit(s, workloads.DaemonSets(s.Namespace), name, what, change)
}

func (s *story) stirDaemonSet(name string) {
	s.Helper()
	switch s.random.IntN(8) {
	default:
		chosen := s.image(name)
		s.editDaemonSet(name, chosen, func(set *v1alpha1.DaemonSet) { set.Spec.Template.Spec.Containers[0].Image = chosen })
	case 0:
		partition := int32(s.random.IntN(3))
		s.editDaemonSet(name, fmt.Sprintf("partition %d", partition), func(set *v1alpha1.DaemonSet) {
			set.Spec.UpdateStrategy.RollingUpdate.Partition = new(intstr.FromInt32(partition))
		})
	case 1:
		paused := s.random.IntN(2) == 0
		s.editDaemonSet(name, fmt.Sprintf("paused %v", paused), func(set *v1alpha1.DaemonSet) { set.Spec.UpdateStrategy.RollingUpdate.Paused = &paused })
	}
}

// stirBroadcastJob creates the next one, when the last has ended.
func (s *story) stirBroadcastJob() {
	s.Helper()
	for _, job := range s.broadcastJobs.All() {
		if job.Status.CompletionTime == nil {
			return
		}
	}
	job := broadcastJob(len(s.broadcastJobs.All()))
	s.AwaitAsking(job.Name+" is created", func() string {
		ctx, cancel := s.within(userPatience)
		defer cancel()
		_, err := workloads.BroadcastJobs(s.Namespace).Create(ctx, job, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) { // by a request whose answer got lost
			return err.Error()
		}
		s.note("%s is created", job.Name)
		return ""
	})
	s.Await("the watch shows "+job.Name, func() string {
		if _, found := s.broadcastJobs.Named(job.Name); !found {
			return "it does not"
		}
		return ""
	})
}

// endTask ends a pod of a BroadcastJob, one of twenty badly.
func (s *story) endTask(ctx context.Context, pod *corev1.Pod) {
	if pod.Labels[v1alpha1.BroadcastJobNameLabel] == "" || pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
		return
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(pod.UID))
	phase := corev1.PodSucceeded
	if hash.Sum32()%20 == 0 {
		phase = corev1.PodFailed
	}
	ctx, cancel := context.WithTimeout(ctx, userPatience)
	defer cancel()
	patch := fmt.Appendf(nil, `{"status":{"phase":%q}}`, phase)
	_, _ = bed.Core.CoreV1().Pods(s.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
}

func (s *story) daemonSetUnsettled(set *v1alpha1.DaemonSet) string {
	partition := int32(0)
	if p := set.Spec.UpdateStrategy.RollingUpdate.Partition; p != nil {
		partition = p.IntVal
	}
	nodes := int32(len(s.nodes))
	if wrong := s.podsUnsettled(set.Name, set.UID, nodes, nodes-partition, set.Spec.Template.Spec.Containers[0].Image); wrong != "" {
		return wrong
	}
	on := map[string]bool{}
	for _, pod := range s.active(set.Name) {
		on[pod.Spec.NodeName] = true
	}
	if len(on) != len(s.nodes) {
		return fmt.Sprintf("pods on %v instead of %v", on, s.nodes)
	}
	if st := set.Status; st.ObservedGeneration != set.Generation || st.DesiredNumberScheduled != nodes || st.CurrentNumberScheduled != nodes ||
		st.NumberReady != nodes || st.NumberAvailable != nodes || st.UpdatedNumberScheduled < nodes-partition || st.NumberMisscheduled != 0 || len(st.Conditions) > 0 {
		return fmt.Sprintf("generation %d, %d nodes, status %+v", set.Generation, nodes, st)
	}
	return ""
}

// broadcastJobUnsettled: the invariants count its pods, when all is settled.
func (s *story) broadcastJobUnsettled(job *v1alpha1.BroadcastJob) string {
	if st := job.Status; st.CompletionTime == nil || st.Desired != taskNodes || st.Succeeded+st.Failed != taskNodes {
		return fmt.Sprintf("%d nodes, status %+v", taskNodes, st)
	}
	return ""
}

// haltCronJob pauses the cron job, and waits until all that is due has been done.
func (s *story) haltCronJob() {
	s.Helper()
	s.pauseCronJob(true)
	s.Await("the cron job is settled", func() string {
		s.managers.revive()
		var left []string
		for _, job := range s.jobs.All() {
			if job.Status.CompletionTime == nil {
				left = append(left, job.Name)
			}
		}
		cron, found := s.cronJobs.Named(ticking)
		if found && cron.Status.ObservedGeneration == cron.Generation && len(cron.Status.Active) == 0 && len(left) == 0 {
			return ""
		}
		return fmt.Sprintf("%+v, unfinished jobs: %s", cron, strings.Join(left, ", "))
	})
}

func (s *story) pauseCronJob(paused bool) {
	s.Helper()
	version := edit(s, workloads.AdvancedCronJobs(s.Namespace), ticking, fmt.Sprintf("paused %v", paused), func(cron *v1alpha1.AdvancedCronJob) { cron.Spec.Paused = &paused })
	s.Await("the watch shows that "+ticking+" is changed", func() string { return s.cronJobs.Behind(version) })
}

// ticks waits until the cron job has run twice in a row since now: while nothing is broken no scheduled time is left out.
func (s *story) ticks() {
	s.Helper()
	begin := time.Now()
	s.Await("the cron job runs at two scheduled times in a row", func() string {
		s.managers.revive()
		var runs []time.Time
		for _, job := range s.jobs.All() {
			if at, err := time.Parse(time.RFC3339, job.Annotations[v1alpha1.ScheduledAtAnnotation]); err == nil {
				runs = append(runs, at)
			}
		}
		slices.SortFunc(runs, time.Time.Compare)
		for i := 1; i < len(runs); i++ {
			if runs[i-1].After(begin) && runs[i].Sub(runs[i-1]) == tick {
				return ""
			}
		}
		return fmt.Sprintf("since %v: %v", begin, runs[max(0, len(runs)-5):])
	})
}

// lostFew fails if more scheduled times were claimed and not run than faults have struck: without one none is lost. (ACJ-13.2)
func (s *story) lostFew(faults int) {
	s.Helper()
	cron, found := s.cronJobs.Named(ticking)
	if !found {
		s.Fatalf("there is no AdvancedCronJob %s", ticking)
	}
	runs, lost := s.record.Runs(cron.UID)
	s.Logf("the cron job has run %d times, and %d were lost by %d faults: %v", len(runs), len(lost), faults, lost)
	if len(lost) > faults {
		s.Errorf("%d scheduled times were lost by %d faults: %v", len(lost), faults, lost)
	}
}

// baseNodes are those that DaemonSets run on.
func (s *story) baseNodes() (names []string) {
	s.Helper()
	nodes, err := bed.Core.CoreV1().Nodes().List(s.Context(), metav1.ListOptions{LabelSelector: "!" + tasksLabel})
	if err != nil {
		s.Fatalf("list nodes: %v", err)
	}
	for _, node := range nodes.Items {
		names = append(names, node.Name)
	}
	return names
}

// taskPods says how the pods of BroadcastJobs have ended.
func (s *story) taskPods() string {
	ended := map[corev1.PodPhase]int{}
	for _, pod := range s.pods.All() {
		if pod.Labels[v1alpha1.BroadcastJobNameLabel] != "" && !podstate.Active(pod) {
			ended[pod.Status.Phase]++
		}
	}
	return fmt.Sprintf("%d BroadcastJobs, %d pods have succeeded and %d failed", len(s.broadcastJobs.All()), ended[corev1.PodSucceeded], ended[corev1.PodFailed])
}
