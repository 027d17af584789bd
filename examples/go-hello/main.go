package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime"
)

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		log.Printf("%s %s", request.Method, request.URL.Path)
		fmt.Fprintf(response, "Hello from %s, unit %q\n", runtime.Version(), os.Getenv("TANCHO_UNIT"))
	})
	log.Printf("listening on port %s", port)
	log.Fatal(http.ListenAndServe("0.0.0.0:"+port, nil))
}
