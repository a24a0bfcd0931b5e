// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestPlans shows what an agent plans for its NodeImage. To accept a change of behaviour, run the test with -rewrite and read the
// difference.
//
//	plan [nodeless] [unlisted]    plans for what the lines after it say, with three pulls at a time, or concurrency=2. There may be no NodeImage,
//	                              and the images of the runtime may not be listed yet. Filters are namespaces=a and registries=(docker.io,quay.io), or
//	                              none. A backoff-limit is the most that tasks may ask for. Lines:
//	want nginx 1                  a task, with words of testdata/words.yaml
//	pulling nginx 1 1s            what is reported: it has been pulled for so long; after "says" a message
//	ended nginx 1 Failed          it has come to its end
//	runs nginx 1 [a]              a pull of version 1, which began 10 s before, perhaps with secrets of a namespace
//	failed nginx 1 3 1s           a pull of it whose third attempt failed a second ago
//	succeeded nginx 1 1s [id]     a pull of it that succeeded
//	listed id name...             an image of the runtime, by its names and digests
//	edit {spec: {}}               merges a patch into the NodeImage
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := &Snapshot{NodeImage: newNodeImage(), Images: []*criv1.Image{}, Concurrency: 3, Now: now}
			for line := range strings.Lines(d.Input) {
				read(t, s, strings.Fields(line))
			}
			if len(s.NodeImage.Status.ImageStatuses) > 0 {
				images.CountTasks(&s.NodeImage.Status, &s.NodeImage.Spec)
			}
			for _, arg := range d.CmdArgs {
				s.set(t, arg.Key, arg.Vals)
			}
			before, _ := json.Marshal(s.NodeImage)
			plan := NewPlan(s)
			lines := append(planned(plan), shown(plan.Status)...)
			if plan.Status != nil && plan.Status.FirstSyncStatus != nil {
				lines = append(lines, fmt.Sprintf("synced first at %s", plan.Status.FirstSyncStatus.SyncAt))
			}
			if after, _ := json.Marshal(s.NodeImage); string(after) != string(before) {
				t.Errorf("%s: the plan has changed its NodeImage to %s", d.Pos, after)
			}
			if len(lines) == 0 {
				return "nothing\n"
			}
			return strings.Join(lines, "\n") + "\n"
		})
	})
}

// set does what an argument says.
func (s *Snapshot) set(t *testing.T, key string, values []string) {
	t.Helper()
	switch key {
	case "nodeless":
		s.NodeImage = nil
	case "unlisted":
		s.Images = nil
	case "concurrency":
		s.Concurrency = patches.Number(t, values[0])
	case "backoff-limit":
		s.Limits.BackoffLimit = int32(patches.Number(t, values[0]))
	case "namespaces":
		s.Filter.Namespaces = values
	case "registries":
		if s.Filter.Registries = values; values[0] == "none" {
			s.Filter.Registries = []string{}
		}
	}
	if err := s.Filter.Validate(); err != nil {
		t.Fatal(err)
	}
}

// read reads a line of a script.
func read(t *testing.T, s *Snapshot, words []string) {
	t.Helper()
	if words[0] == "listed" {
		image := &criv1.Image{Id: words[1]}
		for _, name := range words[2:] {
			if strings.Contains(name, "@") {
				image.RepoDigests = append(image.RepoDigests, name)
			} else {
				image.RepoTags = append(image.RepoTags, name)
			}
		}
		s.Images = append(s.Images, image)
		return
	}
	if words[0] == "edit" {
		patches.Merge(t, s.NodeImage, strings.Join(words[1:], " "))
		return
	}
	pull := Pull{Task: Task{words[1], words[2]}, Version: 1, Since: now.Add(-10 * time.Second)}
	switch words[0] {
	case "want":
		wants(words[1], words[2], words[3:]...)(s.NodeImage)
		return
	case "pulling":
		changes := []string{"pulling=" + words[3]}
		if len(words) > 4 {
			changes = append(changes, "says="+strings.Join(words[5:], " "))
		}
		says(words[1], words[2], changes...)(s.NodeImage)
		return
	case "ended":
		says(words[1], words[2], "ended="+words[3])(s.NodeImage)
		return
	case "runs":
		pull.Running, pull.Namespaces = true, append([]string(nil), words[3:]...)
	case "failed":
		pull.Err, pull.Ended = errors.New("no route"), now.Add(-patches.Duration(t, words[4]))
		_, _ = fmt.Sscan(words[3], &pull.Failures) // 0 makes another plan
	case "succeeded":
		pull.Succeeded, pull.Ended, pull.ImageID = true, now.Add(-patches.Duration(t, words[3])), strings.Join(words[4:], "")
	default:
		t.Fatalf("no line %v", words)
	}
	s.Pulls = append(s.Pulls, pull)
}

// planned shows what a plan does beside the status.
func planned(p *Plan) (lines []string) {
	if p.ListImages {
		lines = append(lines, "list the images")
	}
	for _, s := range p.Start {
		line := fmt.Sprintf("start %s v%d for %v", s.Reference, s.Version, s.Timeout)
		if len(s.Namespaces) > 0 {
			line += fmt.Sprint(" with secrets of ", s.Namespaces)
		}
		if s.Secrets != nil || s.Sandbox != nil {
			line += fmt.Sprintf(", refers to %v and %+v", s.Secrets, s.Sandbox)
		}
		lines = append(lines, line)
	}
	for _, a := range p.Adopt {
		lines = append(lines, fmt.Sprintf("adopt %s:%s v%d", a.Image, a.Tag, a.Version))
	}
	for _, c := range p.Cancel {
		lines = append(lines, fmt.Sprintf("cancel %s:%s: %s", c.Image, c.Tag, c.Reason))
	}
	for _, f := range p.Forget {
		lines = append(lines, fmt.Sprintf("forget %s:%s", f.Image, f.Tag))
	}
	for _, w := range p.Waiting {
		lines = append(lines, fmt.Sprintf("wait %s: %s", w.Name, w.Reason))
	}
	for _, f := range p.Finished {
		lines = append(lines, fmt.Sprintf("finished %s:%s failed=%t in %v", f.Image, f.Tag, f.Failed, f.Took))
	}
	if p.RequeueAfter > 0 {
		lines = append(lines, fmt.Sprint("again in ", p.RequeueAfter))
	}
	return lines
}

func TestNothingToPlanFor(t *testing.T) {
	if plan := NewPlan(nil); !reflect.DeepEqual(plan, &Plan{}) {
		t.Errorf("plan %+v, want none", plan)
	}
}
