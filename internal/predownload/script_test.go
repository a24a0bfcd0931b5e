// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

const (
	created = inplacev1alpha1.PreDownloadCreatedLabel
	ignored = inplacev1alpha1.PreDownloadIgnoredLabel
	minimum = inplacev1alpha1.PreDownloadMinUpdatedReadyPodsAnnotation
)

// annotations are those of workloads that scripts set.
var annotations = map[string]string{
	"min": minimum, "parallelism": inplacev1alpha1.PreDownloadParallelismAnnotation, "timeout": inplacev1alpha1.PreDownloadTimeoutSecondsAnnotation,
}

// TestDecide shows what is decided. The words behind the command change input. "from" and "to" begin lines with the templates of old
// revisions and of the new one, as strategic merge patches. "broken" and "nothing" are data that cannot be read, and "bare" is a
// template of one container without anything else. All other words are annotations. With "whole", all of a job is shown. "names" shows
// the names of jobs for a revision and a container.
func TestDecide(t *testing.T) {
	datadriven.RunTest(t, "testdata/decisions.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "names" {
			return patches.EachLine(d.Input, func(line string) string {
				of, container, _ := strings.Cut(line, " ")
				return jobName(of, container)
			})
		}
		in := input(t)
		in.From = nil
		for line := range strings.Lines(d.Input) {
			if of, text, _ := strings.Cut(strings.TrimSpace(line), " "); of == "to" {
				in.to = revisionOf(t, "new", text)
			} else {
				in.From = append(in.From, revisionOf(t, "old", text))
			}
		}
		if in.From == nil {
			in.From = input(t).From
		}
		set := map[string]string{}
		for _, arg := range d.CmdArgs {
			value := strings.Join(arg.Vals, "")
			if key, known := annotations[arg.Key]; known {
				set[key] = value
			} else {
				change(t, in, arg, value)
			}
		}
		in.workload = workload(set)
		decision := decide(in)
		out := show(t, decision, d.HasArg("whole"))
		if decision.Label != "" { // IP-29
			in.to.Labels[decision.Label] = "true"
			if again := show(t, decide(in), false); again != "nothing\n" {
				t.Errorf("%s: with the label %s there is more to do: %s", d.Pos, decision.Label, again)
			}
		}
		return out
	})
}

// change changes input by an argument of a script.
func change(t *testing.T, in *Input, arg datadriven.CmdArg, value string) {
	number, _ := strconv.Atoi(value)
	switch arg.Key {
	case "created":
		in.to.Labels[created] = "true"
	case "ignored":
		in.to.Labels[ignored] = ""
	case "recreate":
		in.inPlace = false
	case "daemon":
		in.PodPerNode, in.inPlace = true, false
	case "replicas":
		in.Replicas = int32(number)
	case "partition":
		in.Partition = int32(number)
	case "maxUnavailable":
		in.MaxUnavailable = intstr.Parse(value)
	case "updated":
		in.updatedReady = func() int32 { return int32(number) }
	case "arrived":
		arrived(in)
	case "no-pods":
		in.From = nil
	case "no-selector":
		in.selector = nil
	case "no-hash":
		delete(in.to.Labels, revision.HashLabel)
	case "exists":
		in.selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: value, Operator: metav1.LabelSelectorOpExists}}
	case "name":
		in.to.Name = value
	case "jobs":
		in.Jobs = arg.Vals
	case "sandbox":
		in.SandboxConfig = true
	case "whole":
	default:
		t.Fatalf("unknown word %s", arg.Key)
	}
}

// revisionOf is a revision of a template with a patch, of one without anything else, or of data that cannot be read.
func revisionOf(t *testing.T, hash, text string) *appsv1.ControllerRevision {
	t.Helper()
	image := map[string]string{"old": "nginx:1", "new": "nginx:2"}[hash]
	pods, unreadable := template(image, "log:1"), map[string][]byte{"broken": []byte("{"), "nothing": {}}
	switch data, is := unreadable[text]; {
	case is:
		r := rev(t, hash, pods)
		r.Data.Raw = data
		return r
	case text == "bare":
		pods = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}
	case text != "":
		patches.Strategic(t, pods, text)
	}
	return rev(t, hash, pods)
}

// arrived has no pod come from another revision.
func arrived(in *Input) { in.From = []*appsv1.ControllerRevision{in.to} }

// show describes a decision, and its jobs as a whole if that is asked for.
func show(t *testing.T, d rollout.PreDownload, whole bool) string {
	t.Helper()
	var out strings.Builder
	for _, job := range d.Create {
		fmt.Fprintf(&out, "create %s of %s, parallelism %s, timeout %ds\n",
			job.Name, job.Spec.Image, job.Spec.Parallelism, *job.Spec.PullPolicy.TimeoutSeconds)
		if c := job.Spec.SandboxConfig; c != nil {
			fmt.Fprintln(&out, "  sandbox with labels", c.Labels, "and annotations", c.Annotations)
		}
		if _, err := metav1.LabelSelectorAsSelector(job.Spec.PodSelector); err != nil {
			t.Errorf("the API server would refuse the selector: %v", err)
		}
		if whole {
			data, err := json.Marshal(job)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "  %s\n", data)
		}
	}
	if len(d.Delete) > 0 {
		fmt.Fprintln(&out, "delete", d.Delete)
	}
	if d.Label != "" {
		fmt.Fprintln(&out, "label", d.Label)
	}
	if d.Reason != "" {
		fmt.Fprintln(&out, d.Reason)
	}
	if out.Len() == 0 {
		return "nothing\n"
	}
	return out.String()
}
