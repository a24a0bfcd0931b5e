// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecri/agents"
)

func TestStoryManyAtOnce(t *testing.T) {
	var all []change
	for i := range 20 {
		all = append(all, wants(fmt.Sprintf("i%02d", i), "1"))
	}
	agents.Play(t, asking(all...), func(n *node) {
		n.options.Concurrency = 4
		var lock sync.Mutex
		running, most, ends := 0, 0, map[time.Time]bool{}
		n.Runtime.Pull = func(context.Context, *criv1.PullImageRequest) error {
			lock.Lock()
			running++
			most = max(most, running)
			lock.Unlock()
			time.Sleep(time.Minute)
			lock.Lock()
			defer lock.Unlock()
			running--
			ends[time.Now()] = true
			return nil
		}
		n.start()
		if status := n.nodeImage().Status; status.Pulling != 20 {
			n.Errorf("IMG-2.4 difference: %d are reported at once, want those too that wait", status.Pulling)
		}
		n.Sleep(6 * time.Minute)
		if status := n.nodeImage().Status; status.Succeeded != 20 || most != 4 {
			n.Errorf("succeeded %d, at most %d at once", status.Succeeded, most)
		}
		writes, sent := 0, n.Sent(n.User())
		// A slot that is free is given away at once or 100 ms later, as goroutines run: then pulls end at different times.
		if _, err := fmt.Sscanf(sent[0], "%d patch nodeimages/status", &writes); err != nil || len(sent) != 1 || writes > 2+len(ends) || len(ends) > 10 {
			n.Errorf("IMG-3.4: sent %v for 20 pulls that end at %d times, want one for each time, one that they began, and one that some wait (IMG-3.13)", sent, len(ends))
		}
	})
}
