// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Check is one thing that must be in order.
type Check struct {
	// Name stands in the answer, and as a path below the one that asks for all.
	Name string
	// Run returns what is not in order, or a Note.
	Run func(*http.Request) error
}

// Note is an error of a check that is in order and has something to tell. It
// stands in the answer with ?verbose and fails nothing.
type Note string

func (n Note) Error() string { return string(n) }

// Ping is always in order: the process answers.
func Ping() Check { return Check{"ping", func(*http.Request) error { return nil }} }

// HealthHandler serves /healthz and /readyz, and each check by its own below
// them. The answer is 200 "ok", or 503 and the names of what is not in order.
// The reasons are told with ?verbose.
func HealthHandler(healthy, ready []Check) http.Handler {
	mux := http.NewServeMux()
	for path, checks := range map[string][]Check{"/healthz": healthy, "/readyz": ready} {
		mux.Handle("GET "+path, checksHandler(checks))
		for _, one := range checks {
			mux.Handle("GET "+path+"/"+one.Name, checksHandler([]Check{one}))
		}
	}
	return mux
}

func checksHandler(checks []Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var report strings.Builder
		var failed []string
		for _, one := range checks {
			var note Note
			switch err := one.Run(request); {
			case errors.As(err, &note):
				fmt.Fprintf(&report, "[+] %s: %s\n", one.Name, note)
			case err != nil:
				failed = append(failed, one.Name)
				fmt.Fprintf(&report, "[-] %s: %v\n", one.Name, err)
			default:
				fmt.Fprintf(&report, "[+] %s\n", one.Name)
			}
		}
		if !request.URL.Query().Has("verbose") {
			report.Reset()
		}
		if len(failed) > 0 {
			http.Error(w, report.String()+"failed: "+strings.Join(failed, ", "), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, report.String()+"ok")
	})
}
