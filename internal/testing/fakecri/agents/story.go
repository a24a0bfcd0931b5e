// SPDX-License-Identifier: Apache-2.0

package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/patches"
)

// Story is what the agent of a feature adds to a node in which stories are played.
type Story struct {
	*Node
	// Start starts the agent with so many workers; 0 for the default.
	Start func(workers int)
	// Show shows what there is.
	Show func() []string
	// ShowAfter is the command after which something is shown. Default: after each.
	ShowAfter string
	// Calls shows calls of the runtime. Default: those that stop containers, or run commands in them.
	Calls func(calls []string) []string
	// Unordered tells whether goroutines decide what comes first: calls, and events, are shown in the order of the alphabet then.
	// Default: they do not.
	Unordered func() bool
	// Pause is how long each command takes.
	Pause time.Duration
	// Further are commands of the feature, each with its words and the text that follows.
	Further map[string]func(words []string, text string)
}

// PlayStories plays the stories in a folder, each on a node of its own. What there is is shown after each command, and then calls of the runtime, the
// agent's requests, and events, since the last one. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	start [workers=1], stop      starts and stops the agent
//	sleep 10s                    lets time pass
//	end main-1                   ends a container; "ends-after main-1 20s" is how long it takes to end
//	hooks 4s [1]                 how long commands in containers take from now on, and with what they exit; "hooks hang" do not end
//	fail-stops [n]               has the runtime fail to stop containers, so often; "fail-stops Unavailable" once, by not answering
//	down, up                     has the runtime be away, and back
//	fail-writes, lose-writes, lose-answers [n]
//	                             has the API server refuse the agent's patches, not receive them, or lose its answers to them, so often; "heal" ends it
//	hold pods, release pods      stops and resumes the events of a cache
//	uncounted                    requests, and what events are about, are shown no more: that is for goroutines to decide
func PlayStories(t *testing.T, folder string, setUp func(*testing.T) *Story) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		Play(t, setUp, func(s *Story) {
			s.Runtime.ForgetCalls()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				var words []string
				for _, a := range d.CmdArgs {
					words = append(words, a.String())
				}
				s.do(d, words)
				s.Sleep(s.Pause)
				if s.ShowAfter == "" || s.ShowAfter == d.Cmd {
					s.Tell(s.happened()...)
				}
				return s.take(d)
			})
		})
	})
}

// word is the one at a place, or another.
func word(words []string, i int, otherwise string) string {
	if i < len(words) {
		return words[i]
	}
	return otherwise
}

func (s *Story) do(d *datadriven.TestData, words []string) {
	s.Helper()
	if further := s.Further[d.Cmd]; further != nil {
		further(words, d.Input)
		return
	}
	switch d.Cmd {
	case "start":
		s.Start(patches.Number(s.T, strings.TrimPrefix(word(words, 0, "0"), "workers=")))
	case "stop":
		s.StopAgent()
	case "sleep":
		s.Sleep(patches.Duration(s.T, words[0]))
	case "end":
		s.Runtime.End(words[0], 1)
	case "ends-after":
		s.Runtime.SetEndsAfter(words[0], patches.Duration(s.T, words[1]))
	case "hooks":
		takes := patches.Duration(s.T, strings.ReplaceAll(words[0], "hang", "100h"))
		s.Runtime.Command = hook(takes, int32(patches.Number(s.T, word(words, 1, "0"))))
	case "down", "up":
		s.Runtime.SetDown(d.Cmd == "down")
	case "hold":
		s.Hold(words[0])
	case "release":
		s.Release(words[0])
	case "uncounted":
		s.Uncounted = true
	default:
		s.spoil(d, word(words, 0, "1000"))
	}
}

// hook is a command that takes a time, and exits with a code.
func hook(takes time.Duration, code int32) func(context.Context, fakecri.Container, []string) (*criv1.ExecSyncResponse, error) {
	return func(ctx context.Context, _ fakecri.Container, _ []string) (*criv1.ExecSyncResponse, error) {
		select {
		case <-ctx.Done():
		case <-time.After(takes):
		}
		return &criv1.ExecSyncResponse{ExitCode: code}, ctx.Err()
	}
}

// spoil has the runtime or the API server fail from now on, so often.
func (s *Story) spoil(d *datadriven.TestData, times string) {
	s.Helper()
	code := codes.Unknown
	if times == codes.Unavailable.String() {
		code, times = codes.Unavailable, "1"
	}
	var left atomic.Int64
	left.Store(int64(patches.Number(s.T, times)))
	patch := func(err error) func(fakecluster.Request) error {
		return func(r fakecluster.Request) error {
			if r.User != s.User() || r.Verb != "patch" || left.Add(-1) < 0 {
				return nil
			}
			return err
		}
	}
	switch d.Cmd {
	case "fail-stops":
		s.Runtime.FailWith(func(method string) error {
			if method != "StopContainer" || left.Add(-1) < 0 {
				return nil
			}
			return status.Error(code, "stuck")
		})
	case "fail-writes":
		s.FailBefore(patch(fixture.ErrInternal))
	case "lose-writes":
		s.FailBefore(patch(fixture.ErrLost))
	case "lose-answers":
		s.FailAfter(patch(fixture.ErrLost))
	case "heal":
		s.FailBefore(nil)
		s.FailAfter(nil)
	default:
		d.Fatalf(s.T, "no such line: %s", d.Cmd)
	}
}

// take is what is to be shown after a command.
func (s *Story) take(d *datadriven.TestData) string {
	told := append(s.told, "")
	s.told = nil
	if len(told) == 1 && s.ShowAfter != "" && s.ShowAfter != d.Cmd {
		return ""
	}
	return cmp.Or(strings.Join(told, "\n"), "nothing\n")
}

// happened is what there is, and what has happened since the last time.
func (s *Story) happened() []string {
	s.Helper()
	lines := s.Show()
	calls, events, about := s.Runtime.Calls(), s.Events.All(), s.Events.About()
	if s.Calls != nil {
		calls = s.Calls(calls)
	} else {
		calls = slices.DeleteFunc(calls, func(call string) bool {
			return !strings.HasPrefix(call, "StopContainer ") && !strings.HasPrefix(call, "ExecSync ")
		})
	}
	var told []string
	for _, object := range about[s.about:] {
		told = append(told, strings.TrimRight(fmt.Sprintf("    about %s %s %s", object.Name, object.UID, object.FieldPath), " "))
	}
	if s.Unordered != nil && s.Unordered() {
		slices.Sort(calls)
		slices.Sort(events)
		slices.Sort(told)
	}
	lines = append(lines, calls...)
	if sent := s.Sent(s.User()); !s.Uncounted {
		lines, events = append(lines, sent...), append(events, told...)
	}
	lines = append(lines, events...)
	s.about = len(about)
	s.Runtime.ForgetCalls()
	s.Events.Forget()
	return lines
}
