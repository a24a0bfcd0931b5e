// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
)

func TestKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewKnown[string]("whether Widgets are served")
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := v.Get(over); err == nil || !strings.Contains(err.Error(), "not known yet whether Widgets are served") {
			t.Errorf("error %v", err)
		}
		waited := make(chan bool)
		go func() {
			_, there, err := v.Get(t.Context())
			waited <- there || err != nil
		}()
		synctest.Wait()
		v.Missing()
		if <-waited {
			t.Error("what is missing is there")
		}
		v.Set("a")
		v.Missing() // which comes too late
		if value, there, err := v.Get(over); value != "a" || !there || err != nil {
			t.Errorf("got %q, %t, error %v", value, there, err)
		}
	})
}
