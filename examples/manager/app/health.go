package app

import (
	"fmt"
	"net/http"
	"strings"
)

// check is one thing that must be in order.
type check struct {
	name string
	run  func(*http.Request) error
}

func ping(*http.Request) error { return nil }

// healthHandler serves /healthz and /readyz, and each check by its own below
// them: 200 "ok", or 503 and the names of what is not in order. The reasons are
// told with ?verbose.
func healthHandler(healthy, ready []check) http.Handler {
	mux := http.NewServeMux()
	for path, checks := range map[string][]check{"/healthz": healthy, "/readyz": ready} {
		mux.Handle("GET "+path, checksHandler(checks))
		for _, one := range checks {
			mux.Handle("GET "+path+"/"+one.name, checksHandler([]check{one}))
		}
	}
	return mux
}

func checksHandler(checks []check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var report strings.Builder
		var failed []string
		for _, one := range checks {
			if err := one.run(request); err != nil {
				failed = append(failed, one.name)
				fmt.Fprintf(&report, "[-] %s: %v\n", one.name, err)
			} else {
				fmt.Fprintf(&report, "[+] %s\n", one.name)
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
