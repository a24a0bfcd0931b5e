// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestPlans shows what is done about requests and said of them. The files in testdata/plans describe each in a line:
//
//	plan change… pod change…         the steps of a plan, and whether they are to be confirmed; "nopod" for none
//	waits change…                    what is waited for
//	turn change… pod change…         whose turn it is
//	default change… pod change…      labels and spec of a new request once they are filled in
//	create change…                   what is said of a new request
//	create-for change… pod change…   and of its pod
//	update change… to change…        what is said of a change
//
// The changes are requestChanges and podChanges.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			of, then, pod := d.CmdArgs, []datadriven.CmdArg(nil), runningPod()
			at := slices.IndexFunc(of, func(a datadriven.CmdArg) bool { return a.Key == "pod" || a.Key == "nopod" || a.Key == "to" })
			if at >= 0 {
				of, then = of[:at], of[at+1:]
				if pod = changedPod(t, d, then); d.CmdArgs[at].Key == "nopod" {
					pod = nil
				}
			}
			var lines []string
			switch d.Cmd {
			case "plan":
				plan := planned(t, request(requestEditsOf(t, d, of)...), pod)
				if lines = show(pod, plan); plan.Confirm {
					lines = append(lines, "to be confirmed")
				}
			case "turn":
				lines = []string{cmp.Or((&recreate.Snapshot{Request: request(requestEditsOf(t, d, of)...), Pod: pod}).Turn(), "not that of the agent")}
			case "default":
				lines = []string{defaulted(t, newRequest(requestEditsOf(t, d, of)...), pod)}
			case "waits":
				for _, wait := range planned(t, request(requestEditsOf(t, d, of)...), pod).Waiting {
					if lines = append(lines, wait.String()); wait.Reason.Rule == "" || wait.Since.IsZero() || wait.Since.After(now) {
						t.Errorf("%s: it waits by the rule %q since %s", d.Pos, wait.Reason.Rule, wait.Since)
					}
				}
			case "create":
				lines = texts(recreate.ValidateCreate(newRequest(requestEditsOf(t, d, of)...)))
			case "create-for":
				lines = texts(recreate.ValidatePod(newRequest(requestEditsOf(t, d, of)...), pod))
			case "update":
				lines = texts(recreate.ValidateUpdate(request(requestEditsOf(t, d, then)...), request(requestEditsOf(t, d, of)...)))
			default:
				t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			}
			return strings.TrimPrefix(strings.Join(lines, "\n")+"\n", "\n")
		})
	})
}

// planned is a plan, each step of which says why. The request does not change.
func planned(t *testing.T, r *v1alpha1.ContainerRecreateRequest, pod *corev1.Pod) *recreate.Plan {
	before := r.DeepCopy()
	s := &recreate.Snapshot{Request: r, Pod: pod, Now: now, Seen: ago(t, before, "seen"), Silent: ago(t, before, "silent")}
	plan := recreate.NewPlan(s)
	if s.Confirmed = true; recreate.NewPlan(s).Confirm {
		t.Error("it is to be confirmed once more")
	}
	if diff := gocmp.Diff(before, r); diff != "" {
		t.Errorf("the request was changed:\n%s", diff)
	}
	for _, step := range plan.Steps {
		if step.Why == "" {
			t.Errorf("a step does not say why: %+v", step)
		}
	}
	return plan
}

// ago is a time that a test's annotation says is so long ago.
func ago(t *testing.T, r *v1alpha1.ContainerRecreateRequest, key string) (at time.Time) {
	if text := r.Annotations[key]; text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		at = now.Add(-d)
	}
	return at
}

// defaulted shows what is filled in. The pod does not change.
func defaulted(t *testing.T, r *v1alpha1.ContainerRecreateRequest, pod *corev1.Pod) string {
	before := pod.DeepCopy()
	recreate.Default(r, pod)
	if diff := gocmp.Diff(before, pod); diff != "" {
		t.Errorf("the pod was changed:\n%s", diff)
	}
	data, err := yaml.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// requestChanges are those of a number, a duration, a text and no value.
var (
	numberChanges = map[string]func(int64) func(*v1alpha1.ContainerRecreateRequest){
		"deadline": deadline, "unready": unready, "ttl": func(n int64) func(*v1alpha1.ContainerRecreateRequest) { return ttl(int32(n)) },
		"grace":      inStrategy(func(s *v1alpha1.ContainerRecreateRequestStrategy, n int64) { s.TerminationGracePeriodSeconds = &n }),
		"minStarted": inStrategy(func(s *v1alpha1.ContainerRecreateRequestStrategy, n int64) { s.MinStartedSeconds = int32(n) }),
	}
	durationChanges = map[string]func(time.Duration) func(*v1alpha1.ContainerRecreateRequest){"age": age, "completed": completed}
	textChanges     = map[string]func(r *v1alpha1.ContainerRecreateRequest, text string){
		"phase": func(r *v1alpha1.ContainerRecreateRequest, text string) {
			r.Status.Phase = v1alpha1.ContainerRecreateRequestPhase(text)
		},
		"held":       func(r *v1alpha1.ContainerRecreateRequest, text string) { held(strings.Fields(text)...)(r) },
		"finalizer":  func(r *v1alpha1.ContainerRecreateRequest, text string) { r.Finalizers = []string{text} },
		"deleting":   func(r *v1alpha1.ContainerRecreateRequest, _ string) { deleting(r) },
		"inactive":   func(r *v1alpha1.ContainerRecreateRequest, _ string) { inactive(r) },
		"unlabelled": func(r *v1alpha1.ContainerRecreateRequest, _ string) { r.Labels = nil },
		"noStrategy": func(r *v1alpha1.ContainerRecreateRequest, _ string) { r.Spec.Strategy = nil },
		"noPod":      func(r *v1alpha1.ContainerRecreateRequest, _ string) { r.Spec.PodName = "" },
		"name":       func(r *v1alpha1.ContainerRecreateRequest, text string) { r.Name = text },
		"podName":    func(r *v1alpha1.ContainerRecreateRequest, text string) { r.Spec.PodName = text },
		"containers": func(r *v1alpha1.ContainerRecreateRequest, text string) {
			containers(strings.FieldsFunc(text, func(c rune) bool { return c == ',' })...)(r)
		},
		"acquired": func(r *v1alpha1.ContainerRecreateRequest, text string) { annotated(acquired, text)(r) },
		"sync":     func(r *v1alpha1.ContainerRecreateRequest, text string) { annotated(syncAnnotation, text)(r) },
		"policy": func(r *v1alpha1.ContainerRecreateRequest, text string) {
			withStrategy(v1alpha1.ContainerRecreateRequestStrategy{FailurePolicy: v1alpha1.ContainerRecreateRequestFailurePolicyType(text)})(r)
		},
		"label": func(r *v1alpha1.ContainerRecreateRequest, text string) { // none without a colon
			key, value, given := strings.Cut(text, ":")
			if delete(r.Labels, "crr.apps.kruise.io/"+key); given {
				r.Labels["crr.apps.kruise.io/"+key] = value
			}
		},
		"seen":   func(r *v1alpha1.ContainerRecreateRequest, text string) { annotated("seen", text)(r) },
		"silent": func(r *v1alpha1.ContainerRecreateRequest, text string) { annotated("silent", text)(r) },
		"state": func(r *v1alpha1.ContainerRecreateRequest, text string) {
			r.Status.ContainerRecreateStates = []v1alpha1.ContainerRecreateRequestContainerRecreateState{{Name: "main", Phase: v1alpha1.ContainerRecreateRequestPhase(text)}}
		},
		"strategy": func(r *v1alpha1.ContainerRecreateRequest, text string) {
			r.Spec.Strategy = map[string]*v1alpha1.ContainerRecreateRequestStrategy{"empty": {}, "given": {FailurePolicy: "Ignore", OrderedRecreate: true, TerminationGracePeriodSeconds: new(int64(0))}}[text]
		},
		"labels": func(r *v1alpha1.ContainerRecreateRequest, _ string) {
			r.Labels = map[string]string{"app": "web", v1alpha1.ContainerRecreateRequestPodUIDLabel: "forged"}
		},
		"hook": func(r *v1alpha1.ContainerRecreateRequest, text string) {
			r.Spec.Containers[0].PreStop = map[string]*corev1.LifecycleHandler{
				"none": {}, "exec": {Exec: &corev1.ExecAction{}}, "sleep": {Sleep: &corev1.SleepAction{Seconds: 3}}}[text]
		},
		"filled": func(r *v1alpha1.ContainerRecreateRequest, text string) {
			r.Spec.Containers = []v1alpha1.ContainerRecreateRequestContainer{map[string]v1alpha1.ContainerRecreateRequestContainer{
				"PreStop":       {Name: "main", PreStop: &corev1.LifecycleHandler{}},
				"Ports":         {Name: "main", Ports: []corev1.ContainerPort{{}}},
				"StatusContext": {Name: "main", StatusContext: &v1alpha1.ContainerRecreateRequestContainerContext{}}}[text]}
		},
	}
)

func inStrategy(set func(*v1alpha1.ContainerRecreateRequestStrategy, int64)) func(int64) func(*v1alpha1.ContainerRecreateRequest) {
	return func(n int64) func(*v1alpha1.ContainerRecreateRequest) {
		return func(r *v1alpha1.ContainerRecreateRequest) {
			if r.Spec.Strategy == nil {
				r.Spec.Strategy = &v1alpha1.ContainerRecreateRequestStrategy{}
			}
			set(r.Spec.Strategy, n)
		}
	}
}

func withStrategy(s v1alpha1.ContainerRecreateRequestStrategy) func(*v1alpha1.ContainerRecreateRequest) {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.Strategy = &s }
}

func requestEditsOf(t *testing.T, d *datadriven.TestData, args []datadriven.CmdArg) (edits requestEdits) {
	for _, arg := range args {
		text := strings.Join(arg.Vals, ",")
		n, err := int64(0), error(nil)
		switch {
		case textChanges[arg.Key] != nil:
			edits = append(edits, func(r *v1alpha1.ContainerRecreateRequest) { textChanges[arg.Key](r, text) })
		case numberChanges[arg.Key] != nil:
			n, err = strconv.ParseInt(text, 10, 64)
			edits = append(edits, numberChanges[arg.Key](n))
		case durationChanges[arg.Key] != nil:
			var ago time.Duration
			ago, err = time.ParseDuration(text)
			edits = append(edits, durationChanges[arg.Key](ago))
		default:
			err = fmt.Errorf("unknown change %s", arg.Key)
		}
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
	}
	return edits
}

var podChanges = map[string]func(pod *corev1.Pod){
	"leaving": leaving, "ungated": ungated, "mirror": mirror, "another": another, "debugged": debugged,
	"conditionless": func(pod *corev1.Pod) { pod.Status.Conditions = nil },
	"unconditioned": func(pod *corev1.Pod) { pod.Status.Conditions = pod.Status.Conditions[:2] },
	// Containers have been started since the request.
	"restarted":  func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0] = status("main", "containerd://m2", 2, created) },
	"both":       func(pod *corev1.Pod) { pod.Status.ContainerStatuses[1] = status("side", "containerd://s2", 1, now) },
	"notReady":   func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].Ready = false },
	"noID":       func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].ContainerID = "" },
	"noStatus":   func(pod *corev1.Pod) { pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[1:] },
	"noStatuses": func(pod *corev1.Pod) { pod.Status.ContainerStatuses = nil },
	"nodeless":   func(pod *corev1.Pod) { pod.Spec.NodeName = "" },
	"stopped": func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(now)}}
	},
	"ended": func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	},
	"graceless": func(pod *corev1.Pod) { pod.Spec.TerminationGracePeriodSeconds = nil },
	"longNode":  func(pod *corev1.Pod) { pod.Spec.NodeName = strings.Repeat("n", 64) },
	"exec":      hooked(corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"bye"}}}),
	"httpGet":   hooked(corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/bye", Port: intstr.FromString("http")}}),
	"tcpSocket": hooked(corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}),
	"sleep":     hooked(corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 3}}),
	"init": func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{status("init", "containerd://i", 0, created)}
	},
}

// hooked gives the container main a preStop hook and ports.
func hooked(hook corev1.LifecycleHandler) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}
		pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &hook}
	}
}

func changedPod(t *testing.T, d *datadriven.TestData, args []datadriven.CmdArg) *corev1.Pod {
	pod := runningPod()
	for _, arg := range args {
		switch {
		case arg.Key == "keys": // of writers that hold it out of service
			writers := map[string]string{"own": own, "foreign": foreign, "other": `{"userAgent":"ContainerRecreateRequest","key":"shop/other"}`}
			var all []string
			for _, value := range arg.Vals {
				all = append(all, writers[value])
			}
			keys(all...)(pod)
		case arg.Key == "phase" && d.Cmd != "update":
			pod.Status.Phase = corev1.PodPhase(arg.Vals[0])
		case podChanges[arg.Key] != nil:
			podChanges[arg.Key](pod)
		case d.Cmd != "update":
			t.Fatalf("%s: unknown change %s", d.Pos, arg.Key)
		}
	}
	return pod
}

// texts are the errors as a user reads them.
func texts(errs field.ErrorList) (out []string) {
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}
