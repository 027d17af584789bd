#!/usr/bin/env php
<?php
// Serves a directory with nginx and php-fpm, on the port in PORT: php-server [directory].
// Either of them ending ends the other. TERM lets requests that have begun be answered.

function stop(string $message): never
{
    fwrite(STDERR, "php-server: $message\n");
    exit(1);
}

function program(string ...$names): string
{
    $places = [...explode(':', getenv('PATH') ?: ''), '/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin'];
    foreach ($names as $name) {
        foreach ($places as $place) {
            if ($place !== '' && is_executable("$place/$name")) return "$place/$name";
        }
    }
    stop("$names[0] is not installed");
}

function number(string $name, int $otherwise): int
{
    $value = getenv($name);
    return $value !== false && preg_match('/^[1-9]\d{0,4}$/', $value) === 1 ? (int) $value : $otherwise;
}

if (!function_exists('pcntl_async_signals')) stop('the PHP here has no pcntl');
$asked = array_values(array_filter(array_slice($argv, 1), fn (string $word) => $word !== '' && $word[0] !== '-'));
$root = realpath($asked === [] ? '.' : end($asked));
if ($root === false || !is_dir($root)) stop('there is no directory ' . end($asked));
if (preg_match('/[\s"\';{}$\\\\]/', $root) === 1) stop("the path $root has characters that nginx cannot be told");
$port = number('PORT', 8080);
$children = number('WEB_CONCURRENCY', 8);
$version = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
$fpm = program("php-fpm$version", 'php-fpm' . PHP_MAJOR_VERSION . PHP_MINOR_VERSION, 'php-fpm');
$nginx = program('nginx');
$home = sys_get_temp_dir() . '/php-server-' . getmypid();
if (!mkdir($home, 0700)) stop("$home cannot be made");

file_put_contents("$home/fpm.conf", <<<CONF
    [global]
    daemonize = no
    error_log = $home/fpm.log
    log_limit = 8192
    [www]
    listen = $home/fpm.sock
    pm = ondemand
    pm.max_children = $children
    pm.process_idle_timeout = 60s
    pm.max_requests = 1000
    clear_env = no
    catch_workers_output = yes
    decorate_workers_output = no
    security.limit_extensions = .php
    php_admin_flag[log_errors] = on
    php_admin_flag[expose_php] = off
    php_flag[display_errors] = off
    php_value[upload_max_filesize] = 64M
    php_value[post_max_size] = 64M
    php_value[session.save_path] = $home

    CONF);

// Else its workers would be those of another user, who may not reach php-fpm.
$user = posix_getuid() === 0 ? 'user root;' : '';
$types = is_file('/etc/nginx/mime.types') ? 'include /etc/nginx/mime.types;' : '';
file_put_contents("$home/nginx.conf", <<<CONF
    daemon off;
    $user
    pid $home/nginx.pid;
    error_log stderr crit;
    worker_processes 1;
    events { worker_connections 1024; }
    http {
      $types
      default_type application/octet-stream;
      access_log off;
      server_tokens off;
      sendfile on;
      gzip on;
      gzip_types text/css application/javascript application/json image/svg+xml text/plain;
      client_max_body_size 64m;
      client_body_temp_path $home/body;
      proxy_temp_path $home/proxy;
      fastcgi_temp_path $home/fastcgi;
      uwsgi_temp_path $home/uwsgi;
      scgi_temp_path $home/scgi;
      # What visitors asked for, which apps make whole addresses of; only the edge of the platform says it.
      map \$http_x_forwarded_proto \$visitor_scheme { default \$scheme; "https" https; }
      map \$http_x_forwarded_proto \$visitor_https { default ""; "https" on; }
      map \$http_x_forwarded_port \$visitor_port { default \$server_port; ~^[0-9]+$ \$http_x_forwarded_port; }
      # The first address is that of the visitor; the edge, which says it, has the others believed.
      set_real_ip_from 0.0.0.0/0;
      set_real_ip_from ::/0;
      real_ip_header X-Forwarded-For;
      real_ip_recursive on;
      server {
        listen 0.0.0.0:$port;
        server_name _;
        root $root;
        index index.php index.html;
        port_in_redirect off;
        absolute_redirect off;
        location ~ (^|/)\.(?!well-known/) { return 404; }
        location ~* ^/(vendor/|composer\.(json|lock)$|Procfile$|tancho\.ya?ml$|.*\.(sql|sqlite3?|log|bak)$) { return 404; }
        location / { try_files \$uri \$uri/ /index.php\$is_args\$args; }
        location ~ \.php(/|$) {
          fastcgi_split_path_info ^(.+?\.php)(/.*)$;
          set \$path_info \$fastcgi_path_info;
          try_files \$fastcgi_script_name /index.php =404;
          fastcgi_pass unix:$home/fpm.sock;
          fastcgi_read_timeout 300s;
          fastcgi_buffers 16 16k;
          fastcgi_buffer_size 32k;
          fastcgi_param GATEWAY_INTERFACE CGI/1.1;
          fastcgi_param SERVER_SOFTWARE nginx;
          fastcgi_param QUERY_STRING \$query_string;
          fastcgi_param REQUEST_METHOD \$request_method;
          fastcgi_param CONTENT_TYPE \$content_type;
          fastcgi_param CONTENT_LENGTH \$content_length;
          fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name;
          fastcgi_param SCRIPT_NAME \$fastcgi_script_name;
          fastcgi_param PATH_INFO \$path_info;
          fastcgi_param REQUEST_URI \$request_uri;
          fastcgi_param DOCUMENT_URI \$document_uri;
          fastcgi_param DOCUMENT_ROOT \$document_root;
          fastcgi_param SERVER_PROTOCOL \$server_protocol;
          fastcgi_param REQUEST_SCHEME \$visitor_scheme;
          fastcgi_param HTTPS \$visitor_https if_not_empty;
          fastcgi_param REMOTE_ADDR \$remote_addr;
          fastcgi_param REMOTE_PORT \$remote_port;
          fastcgi_param SERVER_ADDR \$server_addr;
          fastcgi_param SERVER_PORT \$visitor_port;
          fastcgi_param SERVER_NAME \$host;
          fastcgi_param REDIRECT_STATUS 200;
          fastcgi_param HTTP_PROXY "";
        }
      }
    }

    CONF);

function start(string $program, string ...$words): int
{
    $pid = pcntl_fork();
    if ($pid === -1) stop('no process can be started');
    if ($pid > 0) return $pid;
    pcntl_exec($program, $words);
    stop("$program cannot be run");
}

$running = [];
$ending = false;
$end = function () use (&$running, &$ending): void {
    $ending = true;
    foreach ($running as $pid) posix_kill($pid, SIGQUIT);
};
pcntl_async_signals(true);
foreach ([SIGTERM, SIGINT, SIGQUIT] as $signal) pcntl_signal($signal, $end, false);

// It makes a session of its own, so that a signal to the group of this process would miss it.
$setpriv = '/usr/bin/setpriv';
$fpmWords = is_executable($setpriv) ? [$setpriv, '--pdeathsig', 'TERM', $fpm] : [$fpm];
$running[] = start(...$fpmWords, ...['--nodaemonize', '--force-stderr', '--fpm-config', "$home/fpm.conf"], ...(posix_getuid() === 0 ? ['--allow-to-run-as-root'] : []));
while (!file_exists("$home/fpm.sock") && !$ending) {
    if (pcntl_waitpid($running[0], $status, WNOHANG) !== 0) stop("$fpm has ended");
    usleep(10_000);
}
if (!$ending) $running[] = start($nginx, '-e', 'stderr', '-p', $home, '-c', "$home/nginx.conf");

$code = 0;
while ($running !== []) {
    $pid = pcntl_wait($status);
    if ($pid <= 0) continue;
    $running = array_values(array_diff($running, [$pid]));
    if ($ending) continue;
    $code = 1;
    fwrite(STDERR, "php-server: a part of the server has ended\n");
    $end();
}
foreach (glob("$home/*") ?: [] as $path) is_dir($path) ? @rmdir($path) : @unlink($path);
@rmdir($home);
exit($code);
