// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestProgress plays the stories of testdata/progress.txt, which says how to read it. (CS-S4)
func TestProgress(t *testing.T) { playStories(t, "testdata/progress.txt", Features{}) }

// TestProgressReasons plays those of testdata/progress_reasons.txt. (CS-47)
func TestProgressReasons(t *testing.T) {
	playStories(t, "testdata/progress_reasons.txt", Features{ProgressReasons: true})
}

func playStories(t *testing.T, file string, features Features) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, stories, _ := strings.Cut(string(data), "\nstory ")
	for story := range strings.SplitSeq(stories, "\nstory ") {
		name, lines, _ := strings.Cut(story, "\n")
		t.Run(name, func(t *testing.T) { playProgress(t, lines, features) })
	}
}

func playProgress(t *testing.T, lines string, features Features) {
	w := newScenario(t)
	w.features = features
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		parts := strings.Split(line, "=>")
		words := strings.Fields(parts[0])
		switch words[0] {
		case "spec":
			w.Spec(words[1:]...)
		case "wait":
			passes, err := time.ParseDuration(words[1])
			if err != nil {
				t.Fatal(err)
			}
			w.Now = w.Now.Add(passes)
		case "break":
			for _, pod := range w.Pods {
				w.Break(pod.Name, true)
			}
		default:
			t.Fatalf("unknown: %s", line)
		}
		w.settle()
		if got, want := w.progress(), strings.TrimSpace(parts[1]); got != want {
			t.Errorf("%s: %s, want %s; status %+v", parts[0], got, want, w.set.Status)
		}
	}
}

// progress is what the condition Progressing says.
func (w *setScenario) progress() string {
	if c := statuses.Find(&w.set.Status, v1alpha1.CloneSetConditionProgressing); c != nil {
		return fmt.Sprint(c.Status, " ", c.Reason)
	}
	return "none"
}
